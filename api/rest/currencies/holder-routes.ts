/** /api/currency/:nameOrId/holders: current holders from the balances, past holders from the sums of balance changes. */
import { SYSTEM_ADDRESSES } from '../../../domain/system-addresses.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import { countRows } from '../../http/count-rows.ts';
import { formatParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins, ratio, usdValueOf } from '../../http/values.ts';
import { identityNames } from '../../state/identity-names.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { withSupply } from '../../state/supply.ts';
import { newestPricesOf, pricesOfBlock } from '../addresses/balance-rows.ts';
import { currencyHolders } from './at-height-schema.ts';
import { atHeightParameters, type CurrencyAt, currencyAt, placeAnswer, supplyThen } from './currency-at.ts';

const MAX_HOLDERS = 500;

interface Holders {
  readonly count: number;
  /** At least one more than requested, if there are so many; largest first, equal balances by address. */
  readonly largest: readonly { readonly address: string; readonly balance: bigint }[];
}

const HELD = 'newest_balances WHERE chain = $1 AND currency_id = $2 AND magnitude > 0 AND address <> ALL($3)';
const NOW_SQL = `SELECT address, balance FROM ${HELD} ORDER BY magnitude DESC, balance DESC, address LIMIT $4`;
const readHolder = rowReader({ address: columns.text, balance: columns.bigint });

async function holdersNow(read: Snapshot, api: ApiContext, { entry }: CurrencyAt, limit: number): Promise<Holders> {
  const values = [entry.chain, entry.currencyId, [...SYSTEM_ADDRESSES]];
  return {
    count: await countRows(read, api, entry.chain, { rows: HELD, values }),
    largest: await read.rows(readHolder, NOW_SQL, [...values, limit + 1]),
  };
}

/** Balances at a block as the sums of all changes up to it. */
const THEN_SQL = `SELECT address, sum(received) - sum(sent) AS balance, count() OVER () AS holders FROM address_deltas
  WHERE chain = {chain: String} AND currency_id = {id: String} AND height <= {height: UInt32} AND position <= {position: UInt64}
    AND address NOT IN {system: Array(String)}
  GROUP BY address HAVING balance > 0 ORDER BY balance DESC, address LIMIT {limit: UInt32}`;

const readPastHolder = rowReader({ address: columns.text, balance: columns.text, holders: columns.text });

async function holdersThen(read: Snapshot, api: ApiContext, { entry, block }: CurrencyAt): Promise<Holders> {
  const { chain, currencyId: id } = entry;
  const position = read.state.derived.get(chain)?.position ?? 0;
  const values = { chain, id, height: block.height, position, system: [...SYSTEM_ADDRESSES], limit: MAX_HOLDERS + 1 };
  // Memoized once for every limit while the block is in the chain; no later block changes it. A rewind deletes its rows before it commits.
  const key = `holders of ${id} on ${chain} at ${block.height}`;
  const tag = `${block.position} ${read.state.redrives}`;
  const rows = await api.memo.get(key, tag, () => api.clickhouse.rows(readPastHolder, THEN_SQL, values));
  return {
    count: Number(rows[0]?.holders ?? 0),
    largest: rows.map(({ address, balance }) => ({ address, balance: BigInt(balance) })),
  };
}

const holders = stateRoute({
  path: '/api/currency/:nameOrId/holders',
  summary: 'Largest holders of a currency: now, or at the end of a block',
  parameters: {
    ...atHeightParameters,
    limit: queryParameter('Rows; more than 500 is served as 500', { type: 'integer', minimum: 1, default: 100 }),
    ...formatParameter,
  },
  response: currencyHolders,
  rows: { member: 'results' },
  weight: 2,
  cache: 'state',
  scope: 'all',
  async handler(call) {
    const { params, read, api } = call;
    const limit = Math.min(params.limit, MAX_HOLDERS);
    const at = await currencyAt(call);
    const { chain, currencyId } = at.entry;
    const found = await (at.isNewest ? holdersNow : holdersThen)(read, api, at, limit);
    const shown = found.largest.slice(0, limit);
    const names = await identityNames(
      read,
      [chain],
      shown.map(({ address }) => address),
    );
    const { height, clock } = at.block;
    const pricesOf =
      params.height === undefined
        ? newestPricesOf(read, api)
        : await pricesOfBlock(read, api, { chain, height, clock: Number(clock) });
    const price = (await pricesOf([currencyId])).get(currencyId) ?? null;
    const then = await supplyThen(read, api, at);
    return () =>
      withSupply(then.supply, (supply) => ({
        ...placeAnswer(at),
        holders: found.count,
        results: shown.map(({ address, balance }, index) => ({
          rank: index + 1,
          address,
          name: names.get(address)?.name ?? null,
          balance: coins(balance),
          percent: supply !== null && supply > 0n ? ratio(balance * 100n, supply) : null,
          usdValue: usdValueOf(balance, price),
        })),
        more: found.largest.length > limit,
      }));
  },
});

export const currencyHolderRoutes = [holders];
