/** Compares the stamps of two generations for the same conversions. USD are decimals as text. */
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';

const readRule = rowReader({
  rule: columns.text,
  reason: columns.text,
  before: columns.number,
  after: columns.number,
  usdBefore: columns.text,
  usdAfter: columns.text,
});
export type RuleCount = RowRead<typeof readRule>;

const readDifference = rowReader({
  chain: columns.text,
  txid: columns.text,
  vout: columns.number,
  height: columns.number,
  before: columns.nullable(columns.text),
  after: columns.nullable(columns.text),
});
export type Difference = RowRead<typeof readDifference>;

const readRatio = rowReader({
  /** After divided by before. */
  ratio: columns.text,
  conversions: columns.number,
});
export type RatioCount = RowRead<typeof readRatio>;

export interface GenerationComparison {
  readonly rules: readonly RuleCount[];
  /** The 20 largest, in USD. */
  readonly differences: readonly Difference[];
  readonly ratios: readonly RatioCount[];
}

export interface Compared {
  readonly before: number;
  readonly after: number;
  /** Newest tick that both have. */
  readonly tick: number;
}

const OF_BOTH = 'generation IN ({before:UInt32}, {after:UInt32}) AND tick <= {tick:UInt64}';
const PAIRS = `SELECT * FROM (
    SELECT chain, txid, vout, import_height, usd_value FROM conversions WHERE generation = {before:UInt32} AND tick <= {tick:UInt64}
  ) AS old INNER JOIN (
    SELECT chain, txid, vout, usd_value AS new_value FROM conversions WHERE generation = {after:UInt32} AND tick <= {tick:UInt64}
  ) AS new USING (chain, txid, vout)`;

/** Each name is for ratios below its bound and not below the previous one. */
const BUCKETS = [
  ['below 0.1', '0.1'],
  ['0.1 to 0.5', '0.5'],
  ['0.5 to 0.9', '0.9'],
  ['0.9 to 0.99', '0.99'],
  ['0.99 to 1', '1'],
  ['1 to 1.01', '1.01'],
  ['1.01 to 1.1', '1.1'],
  ['1.1 to 2', '2'],
  ['2 to 10', '10'],
] as const;
const RATIO = `multiIf(
  usd_value IS NULL AND new_value IS NULL, 'no value in either',
  usd_value IS NULL, 'a value only after',
  new_value IS NULL, 'a value only before',
  usd_value = new_value, 'equal',
  usd_value = 0, 'zero before',
  ${BUCKETS.map(([name, below]) => `toFloat64(new_value) / toFloat64(usd_value) < ${below}, '${name}'`).join(', ')},
  '10 and more')`;

export async function compareGenerations(clickhouse: ClickHouse, of: Compared): Promise<GenerationComparison> {
  const rules = await clickhouse.rows(
    readRule,
    `SELECT rule, reason, toUInt32(countIf(generation = {before:UInt32})) AS before,
       toUInt32(countIf(generation = {after:UInt32})) AS after,
       toString(round(sumIf(ifNull(usd_value, 0), generation = {before:UInt32}), 2)) AS usdBefore,
       toString(round(sumIf(ifNull(usd_value, 0), generation = {after:UInt32}), 2)) AS usdAfter
     FROM conversions WHERE ${OF_BOTH} GROUP BY rule, reason ORDER BY rule, reason`,
    { ...of },
  );
  const differences = await clickhouse.rows(
    readDifference,
    `SELECT chain, txid, vout, import_height AS height, toString(round(usd_value, 8)) AS before, toString(round(new_value, 8)) AS after
     FROM (${PAIRS}) WHERE ifNull(usd_value, 0) != ifNull(new_value, 0)
     ORDER BY greatest(ifNull(usd_value, 0), ifNull(new_value, 0)) - least(ifNull(usd_value, 0), ifNull(new_value, 0)) DESC,
       chain, txid, vout LIMIT 20`,
    { ...of },
  );
  const ratios = await clickhouse.rows(
    readRatio,
    `SELECT ${RATIO} AS ratio, toUInt32(count()) AS conversions FROM (${PAIRS}) GROUP BY ratio
     ORDER BY min(toFloat64(ifNull(new_value, 0)) / toFloat64(ifNull(nullIf(usd_value, 0), 1)))`,
    { ...of },
  );
  return { rules, differences, ratios };
}
