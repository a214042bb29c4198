/** Prices as they were: 24 hours ago, and hour by hour. */
import type { ApiContext } from '../api-context.ts';
import { committedTick } from '../routes/committed-tick.ts';
import type { Snapshot } from '../state/snapshot.ts';

/** Ticks follow the clock, so the last one up to a moment is found from the newest backwards. */
const TICK_SQL = 'SELECT tick FROM price_ticks WHERE clock <= $1 ORDER BY tick DESC LIMIT 1';
/** Postgres keeps the newest prices only. */
const PRICE_SQL = `SELECT currency_id AS id, argMax(usd_price, tick) AS price FROM prices
  WHERE generation = {generation: UInt32} AND tick <= {tick: UInt64} GROUP BY id`;

/** By currency, as decimal text; without those that had no price yet. `moment`: seconds since the epoch. */
export async function pricesAt(read: Snapshot, api: ApiContext, moment: number): Promise<ReadonlyMap<string, string>> {
  const at = await read.row<{ tick: bigint }>(TICK_SQL, [moment]);
  if (!at) return new Map();
  const rows = await api.clickhouse.query<{ id: string; price: string }>(PRICE_SQL, {
    generation: read.state.generation,
    tick: String(at.tick),
  });
  return new Map(rows.map(({ id, price }) => [id, price]));
}

/** Percent; null without a price then. */
export function changePercent(now: string, before: string | undefined): number | null {
  if (before === undefined || Number(before) === 0) return null;
  return (Number(now) / Number(before) - 1) * 100;
}

const HOUR = 3600;
const SPARK_HOURS = 168;
const LEAST_POINTS = 24;

const HOURLY_SQL = `SELECT currency_id AS id, toUnixTimestamp(toStartOfHour(time)) AS hour,
    toFloat64(argMax(usd_price, tick)) AS price
  FROM prices WHERE generation = {generation: UInt32} AND tick > {from: UInt64} AND tick <= {tick: UInt64}
  GROUP BY id, hour ORDER BY id, hour`;

/** The last price of each hour of the last week; an hour without one repeats the one before. At least 24 points. */
export async function sparklines(
  read: Snapshot,
  api: ApiContext,
  end: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const start = end - (SPARK_HOURS - 1) * HOUR;
  const before = await read.row<{ tick: bigint }>(TICK_SQL, [start - HOUR]);
  const rows = await api.clickhouse.query<{ id: string; hour: number; price: number }>(HOURLY_SQL, {
    generation: read.state.generation,
    from: String(before?.tick ?? 0n),
    tick: await committedTick(read),
  });
  const points = new Map<string, { hour: number; price: number }[]>();
  for (const { id, hour, price } of rows) points.set(id, [...(points.get(id) ?? []), { hour, price }]);
  return new Map([...points].map(([id, known]) => [id, filled(known, end)]));
}

function filled(known: readonly { hour: number; price: number }[], end: number): number[] {
  const [first] = known;
  if (!first) return [];
  const line: number[] = [];
  let price = first.price;
  let next = 0;
  for (let hour = first.hour; hour <= end; hour += HOUR) {
    while ((known[next]?.hour ?? Number.POSITIVE_INFINITY) <= hour) price = known[next++]?.price ?? price;
    line.push(price);
  }
  while (line.length < LEAST_POINTS) line.unshift(first.price);
  return line.slice(-SPARK_HOURS);
}
