/** Prices as they were: 24 hours ago, and hour by hour. */
import type { ApiContext } from '../../api-context.ts';
import type { PricedRows } from '../../state/priced-rows.ts';

const HOUR = 3600;

/** While a currency is priced, every block of the default chain writes its price: an hour holds the last one of almost all. */
const recentSql = (rows: PricedRows) =>
  `SELECT currency_id AS id, argMax(usd_price, tick) AS price FROM ${rows.of(
    'prices',
    'currency_id, usd_price, tick',
    'currency_id IN {ids: Array(String)} AND tick > {from: UInt64} AND tick <= {until: UInt64}',
  )} GROUP BY id`;

/** The last row of each currency up to a tick, each found from the end of its own: parameters `id0`, `id1` …, `before`. */
export function lastPricesSql(rows: PricedRows, columns: string, ids: readonly string[]): string {
  const one = (index: number) =>
    rows.newest(columns, `currency_id = {id${index}: String} AND tick <= {before: UInt64}`, '1');
  return ids.map((_, index) => one(index)).join(' UNION ALL ');
}

export const lastPricesValues = (ids: readonly string[]): Record<string, string> =>
  Object.fromEntries(ids.map((id, index) => [`id${index}`, id]));

interface PastPrice {
  readonly id: string;
  readonly price: string;
}

/** By currency, as decimal text; without those that had no price yet. `moment`: seconds since the epoch. */
export async function pricesAt(
  api: ApiContext,
  rows: PricedRows,
  ids: readonly string[],
  moment: number,
): Promise<ReadonlyMap<string, string>> {
  const until = await rows.tickAt(moment);
  if (until === null || ids.length === 0) return new Map();
  const from = (await rows.tickAt(moment - HOUR)) ?? '0';
  const recent = await api.clickhouse.query<PastPrice>(recentSql(rows), { ...rows.params, ids, from, until });
  const found = new Map(recent.map(({ id, price }) => [id, price]));
  const rest = ids.filter((id) => !found.has(id));
  if (rest.length > 0) {
    const last = lastPricesSql(rows, 'currency_id AS id, usd_price AS price, tick', rest);
    const sql = `SELECT id, price FROM (${last})`;
    const values = { ...rows.params, before: from, ...lastPricesValues(rest) };
    for (const { id, price } of await api.clickhouse.query<PastPrice>(sql, values)) found.set(id, price);
  }
  return found;
}

/** Percent; null without a price then. */
export function changePercent(now: string, before: string | undefined): number | null {
  if (before === undefined || Number(before) === 0) return null;
  return (Number(now) / Number(before) - 1) * 100;
}

const SPARK_HOURS = 168;
const LEAST_POINTS = 24;

const hourlySql = (rows: PricedRows) => `SELECT currency_id AS id, toUnixTimestamp(toStartOfHour(time)) AS hour,
    toFloat64(argMax(usd_price, tick)) AS price
  FROM ${rows.of('prices', 'currency_id, time, usd_price, tick', 'tick > {from: UInt64}')}
  GROUP BY id, hour ORDER BY id, hour`;

/** The last price of each hour of the last week; an hour without one repeats the one before. At least 24 points. */
export async function sparklines(
  api: ApiContext,
  rows: PricedRows,
  end: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const start = end - (SPARK_HOURS - 1) * HOUR;
  const from = (await rows.tickAt(start - HOUR)) ?? '0';
  const hours = await api.clickhouse.query<{ id: string; hour: number; price: number }>(hourlySql(rows), {
    ...rows.params,
    from,
  });
  const points = new Map<string, { hour: number; price: number }[]>();
  for (const { id, hour, price } of hours) points.set(id, [...(points.get(id) ?? []), { hour, price }]);
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
