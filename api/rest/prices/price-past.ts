/** Past prices: at a moment, such as 24 hours ago, and hour by hour. */
import { columns, type RowReader, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import type { PricedRows } from '../../state/priced-rows.ts';

const HOUR = 3600;
/** Most currencies in one statement, which has a SELECT for each: ClickHouse parses at most 256 KiB of text. */
const MOST_TOGETHER = 100;

/** Every block of the default chain writes the price of each priced currency, so one hour contains the last price of almost all. */
const recentSql = (rows: PricedRows, columns: string, condition: string) =>
  `SELECT * FROM ${rows.of(
    'prices',
    columns,
    `currency_id IN {ids: Array(String)} AND tick > {from: UInt64} AND tick <= {until: UInt64} AND ${condition}`,
  )} ORDER BY tick DESC LIMIT 1 BY currency_id`;

/** The last row of each currency up to a tick, each found by its own reverse scan; parameters are `id0`, `id1` … and `before`. */
export function lastPricesSql(rows: PricedRows, columns: string, ids: readonly string[], condition = 'true'): string {
  const one = (index: number) =>
    rows.newest(columns, `currency_id = {id${index}: String} AND tick <= {before: UInt64} AND ${condition}`, '1');
  return ids.map((_, index) => one(index)).join(' UNION ALL ');
}

export const lastPricesValues = (ids: readonly string[]): Record<string, string> =>
  Object.fromEntries(ids.map((id, index) => [`id${index}`, id]));

export interface PastRows {
  /** Columns of `prices`: `currency_id`, `tick` and others. */
  readonly columns: string;
  /** Select list over `columns`; all of them by default. */
  readonly answered?: string;
  /** Condition on `columns`; all rows by default. */
  readonly condition?: string;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly ids: readonly string[];
  /** Last tick. */
  readonly until: string;
  /** Approximate time of that tick, seconds since the epoch. */
  readonly moment: number;
}

/** The last row of each currency up to a tick; a currency without a price by then has no row. */
export async function lastRows<Row extends { readonly currency_id: string }>(
  api: ApiContext,
  rows: PricedRows,
  reader: RowReader<Row>,
  { columns, answered = '*', condition = 'true', values = {}, ids, until, moment }: PastRows,
): Promise<Row[]> {
  if (ids.length === 0) return [];
  const earlier = (await rows.tickAt(moment - HOUR)) ?? '0';
  const from = BigInt(earlier) < BigInt(until) ? earlier : until;
  const given = { ...rows.params, ...values };
  const query = (sql: string, more: Readonly<Record<string, unknown>>) =>
    api.clickhouse.rows(reader, `SELECT ${answered} FROM (${sql}) AS found`, { ...given, ...more });
  const recent = await query(recentSql(rows, columns, condition), { ids, from, until });
  const found = new Set(recent.map((row) => row.currency_id));
  const rest = ids.filter((id) => !found.has(id));
  if (rest.length === 0) return recent;
  const last: Row[] = [];
  for (let first = 0; first < rest.length; first += MOST_TOGETHER) {
    const some = rest.slice(first, first + MOST_TOGETHER);
    const sql = lastPricesSql(rows, columns, some, condition);
    last.push(...(await query(sql, { before: from, ...lastPricesValues(some) })));
  }
  return [...recent, ...last];
}

const readPrice = rowReader({ currency_id: columns.text, usd_price: columns.text });

/** Prices at a moment (seconds since the epoch) as decimal text by currency; currencies without a price by then are missing. */
export async function pricesAt(
  api: ApiContext,
  rows: PricedRows,
  ids: readonly string[],
  moment: number,
): Promise<ReadonlyMap<string, string>> {
  return pricesUntil(api, rows, ids, { until: await rows.tickAt(moment), moment });
}

/** Like pricesAt, but up to the tick `until`, whose approximate time is `moment`. Empty when `until` is null. */
export async function pricesUntil(
  api: ApiContext,
  rows: PricedRows,
  ids: readonly string[],
  { until, moment }: { readonly until: string | null; readonly moment: number },
): Promise<ReadonlyMap<string, string>> {
  if (until === null) return new Map();
  const found = await lastRows(api, rows, readPrice, { columns: 'currency_id, usd_price, tick', ids, until, moment });
  return new Map(found.map((row) => [row.currency_id, row.usd_price]));
}

/** Change in percent; null without an earlier price. */
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

const readHour = rowReader({ id: columns.text, hour: columns.number, price: columns.number });

/** The last price of each hour of the last week; an hour without a price repeats the previous one. At least 24 points. */
export async function sparklines(
  api: ApiContext,
  rows: PricedRows,
  end: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const start = end - (SPARK_HOURS - 1) * HOUR;
  const from = (await rows.tickAt(start - HOUR)) ?? '0';
  const hours = await api.clickhouse.rows(readHour, hourlySql(rows), { ...rows.params, from });
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
