/** Prices at the end of a block of the default chain, or at a moment. */
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import { ApiError, notFound, parameterError } from '../../http/api-error.ts';
import { queryParameter } from '../../http/parameters.ts';
import { parseTime, TIME } from '../../http/time-parameter.ts';
import { writtenHeight } from '../../schema/json-schema.ts';
import { blockAt, heightAtTime } from '../../state/block-at.ts';
import { pricedHeight } from '../../state/priced-heights.ts';
import type { PricedRows } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { lastRows } from './price-past.ts';
import { defaultChain, type LatestPrice, PRICE } from './price-rows.ts';

export const asOfParameters = {
  height: queryParameter('As of the end of this block of the default chain; not together with time', writtenHeight),
  time: queryParameter(
    'As of this time, ISO 8601 or seconds since the epoch: up to the last block of any chain by then',
    TIME,
  ),
};

export interface MomentQuery {
  readonly height: number | undefined;
  readonly time: string | undefined;
}

export interface AsOf {
  /** Last tick that counts. */
  readonly tick: string;
  /** Newest block of the default chain at that moment. */
  readonly height: number;
  /** Seconds since the epoch, as clocks count. */
  readonly moment: number;
}

/**
 * Returns null if the request has neither height nor time, that is, as of now.
 * @throws ApiError invalid_parameter for both, not_found for a block that is not priced yet and a time before all blocks
 */
export async function asOf(
  read: Snapshot,
  api: ApiContext,
  rows: PricedRows,
  { height, time }: MomentQuery,
): Promise<AsOf | null> {
  if (height !== undefined && time !== undefined) {
    throw parameterError('time', 'height and time exclude each other');
  }
  const chain = defaultChain(api);
  if (height !== undefined) {
    const { clock } = await blockAt(read, chain, height);
    const tick = (await rows.placesOf(chain, [height])).get(height)?.tick ?? -1;
    if (tick < 0 || height > (await pricedHeight(read, chain)))
      throw new ApiError('not_found', `block ${height} of ${chain} is not priced yet`);
    return { tick: String(tick), height, moment: Number(clock) };
  }
  if (time === undefined) return null;
  const moment = parseTime(time, 'time');
  const [tick, newest] = [await rows.tickAt(moment), await heightAtTime(read, chain, moment)];
  if (tick === null || newest === null) throw notFound(`a price up to ${time}`);
  return { tick, height: newest, moment };
}

/** Postgres keeps the newest price of every currency that ever had one. */
const EVER_PRICED_SQL = `SELECT wanted.id FROM unnest($2::text[]) AS wanted(id)
  WHERE EXISTS (SELECT FROM prices WHERE generation = $1 AND currency_id = wanted.id)`;
const readId = rowReader({ id: columns.text });

const readStored = rowReader({ ...PRICE, time: columns.number, tick: columns.text });

const COLUMNS = 'currency_id, tier, usd_price, ema_price, total_depth, source_basket, baskets, height, time, tick';
const ANSWERED = `currency_id, tier, usd_price, ema_price, total_depth, nullIf(found.source_basket, '') AS source_basket, baskets,
  height, toUnixTimestamp(found.time) AS time, tick`;

/**
 * The last price of each currency at a past moment, like latestPrices for now; its age counts from its last row at a block of the
 * default chain. `guard` is always null, because past checks against external feeds are not kept.
 */
export async function pricesAsOf(
  read: Snapshot,
  api: ApiContext,
  rows: PricedRows,
  { tick, moment }: AsOf,
  asked: readonly string[],
): Promise<LatestPrice[]> {
  const ids = (await read.rows(readId, EVER_PRICED_SQL, [read.state.generation, asked])).map(({ id }) => id);
  const wanted = { columns: COLUMNS, answered: ANSWERED, ids, until: tick, moment };
  const ofDefault = { condition: 'chain = {chain: String}', values: { chain: defaultChain(api) } };
  const [newest, steps] = await Promise.all([
    lastRows(api, rows, readStored, wanted),
    lastRows(api, rows, readStored, { ...wanted, columns: `${COLUMNS}, chain`, ...ofDefault }),
  ]);
  const stepOf = new Map(steps.map((step) => [step.currency_id, step]));
  return newest.map((row) => {
    const { ema_price, height, time } = stepOf.get(row.currency_id) ?? row;
    const derived = { ...row, ema_price, height, time: BigInt(time) };
    return { ...derived, derived, guard: null, provisional: BigInt(row.tick) > BigInt(rows.params.tick) };
  });
}
