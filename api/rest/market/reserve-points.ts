/** Reserves of a basket at the ends of windows, with their USD value at that time. */

import { parsePrice } from '../../../domain/decimal.ts';
import { parseReserves } from '../../../domain/reserves.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import type { ApiContext } from '../../api-context.ts';
import type { Usd } from '../../http/usd.ts';
import type { PricedRows } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { lastPricesSql, lastPricesValues } from '../prices/price-past.ts';

export interface ReservePoint {
  /** Start of the window, seconds since the epoch. */
  readonly time: number;
  readonly height: number;
  readonly supply: bigint;
  /** Σ of the reserves that had a price; null when none had. */
  readonly tvl: Usd | null;
  /** i-address, satoshis and USD value of each reserve, in the order of the definition. */
  readonly reserves: readonly (readonly [string, bigint, Usd | null])[];
}

const MAX_POINTS = 200;

/** The newest state is enough: a basket never changes its reserve currencies. */
export const RESERVES_SQL =
  'SELECT reserves FROM currency_states WHERE chain = $1 AND currency_id = $2 AND to_height IS NULL';

/**
 * Points are thinned evenly from the newest backwards. A point has the last price before the end of its window. Each price row is
 * joined to the next point only, so memory is bounded by the number of points.
 */
const pointsSql = (rows: PricedRows, ids: readonly string[]) => `WITH points AS (
    SELECT * FROM (
      SELECT window, state_height, supply, reserve_ids, reserves,
        row_number() OVER (ORDER BY window DESC) - 1 AS back, count() OVER () AS total
      FROM reserve_snapshots WHERE chain = {chain: String} AND currency_id = {id: String}
        AND position <= {position: UInt64} AND window >= fromUnixTimestamp({since: UInt32})
    ) WHERE back % greatest(1, toUInt64(ceil(total / ${MAX_POINTS}))) = 0
  ),
  held AS (
    SELECT window, window + 300 AS until, state_height, supply, toString(id) AS reserve, amount, place FROM points
    ARRAY JOIN reserve_ids AS id, reserves AS amount, arrayEnumerate(reserve_ids) AS place
  ),
  priced AS (
    SELECT p.id AS reserve, moment.until AS until, argMax(p.usd_price, p.tick) AS price
    FROM (
      SELECT * FROM ${rows.of('prices', PRICE_COLUMNS, 'currency_id IN {ids: Array(String)} AND tick > {before: UInt64}')}
      UNION ALL ${lastPricesSql(rows, PRICE_COLUMNS, ids)}
    ) AS p
    ASOF JOIN (SELECT DISTINCT reserve, until FROM held) AS moment ON p.id = moment.reserve AND p.time < moment.until
    GROUP BY reserve, until
  )
  SELECT toUnixTimestamp(window) AS time, any(state_height) AS height, toString(any(held_supply)) AS supply,
    toString(ifNull(sum(amount * price), toDecimal256(0, 30))) AS tvl,
    arraySort(groupArray((place, id, toString(amount), ifNull(toString(amount * price), '')))) AS reserves
  FROM (
    SELECT held.window AS window, held.state_height AS state_height, held.supply AS held_supply, held.reserve AS id,
      held.amount AS amount, held.place AS place,
      anyLast(if(priced.price = 0, NULL, priced.price)) OVER (PARTITION BY held.reserve ORDER BY held.until
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS price
    FROM held LEFT JOIN priced ON held.reserve = priced.reserve AND held.until = priced.until
  )
  GROUP BY window ORDER BY window`;

const PRICE_COLUMNS = 'toString(currency_id) AS id, time, tick, usd_price';

export const readReserves = rowReader(storedColumns(DEFINITIONS.currency_state, ['reserves']));

const readPoint = rowReader({
  time: columns.number,
  height: columns.number,
  supply: columns.text,
  tvl: columns.text,
  /** Place, i-address, satoshis and USD value; the value is '' without a price. */
  reserves: columns.list(columns.tuple(columns.number, columns.text, columns.text, columns.text)),
});

/** Parses satoshis times a price of 30 decimals, which is USD scaled by 10^38. Returns null for '' and for 0. */
function worthOf(text: string): Usd | null {
  if (text === '') return null;
  const value = parsePrice(text);
  return value === 0n ? null : value;
}

/** Oldest first; `since`: seconds since the epoch. */
export async function reservePoints(
  read: Snapshot,
  api: ApiContext,
  rows: PricedRows,
  { chain, currencyId }: { readonly chain: string; readonly currencyId: string },
  since: number,
): Promise<ReservePoint[]> {
  const state = await read.row(readReserves, RESERVES_SQL, [chain, currencyId]);
  const ids = parseReserves(state?.reserves ?? '[]').map((reserve) => reserve.currencyId);
  if (ids.length === 0) return [];
  const points = await api.clickhouse.rows(readPoint, pointsSql(rows, ids), {
    ...rows.params,
    chain,
    id: currencyId,
    position: read.state.derived.get(chain)?.position ?? 0,
    since,
    ids,
    ...lastPricesValues(ids),
    before: (await rows.tickAt(since)) ?? '0',
  });
  return points.map(({ time, height, supply, tvl, reserves }) => ({
    time,
    height,
    supply: BigInt(supply),
    tvl: worthOf(tvl),
    reserves: reserves.map(([, id, amount, worth]) => [id, BigInt(amount), worthOf(worth)] as const),
  }));
}
