/** Prices and stamped conversions in ClickHouse, which has no transactions: always written before Postgres commits. */
import { allEnded } from '../../infra/all-ended.ts';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import type { StampRow } from '../../processors/pricing/stamp.ts';
import type { FoldedRows } from './price-batch.ts';
import { CLICKHOUSE_CONVERSIONS, CLICKHOUSE_PRICES, type ClickHousePriceTable, ofGeneration } from './price-rows.ts';

/** Keys per delete, far below the longest statement that ClickHouse parses. */
const KEYS_PER_DELETE = 1000;

export async function insertRows(clickhouse: ClickHouse, rows: FoldedRows): Promise<void> {
  const { generation } = rows;
  await replaceConversions(clickhouse, generation, rows.corrections);
  await allEnded([
    insert(clickhouse, ofGeneration(CLICKHOUSE_PRICES, generation), rows.prices),
    insert(clickhouse, ofGeneration(CLICKHOUSE_CONVERSIONS, generation), rows.stamps),
  ]);
}

/** Deletes every row of `tick` and later, of all generations or of one. Idempotent. */
export async function deleteFrom(clickhouse: ClickHouse, tick: number, generation?: number): Promise<void> {
  const of = generation === undefined ? '' : 'generation = {generation:UInt32} AND ';
  const condition = `${of}tick >= {tick:UInt64}`;
  const tables = [CLICKHOUSE_PRICES.name, CLICKHOUSE_CONVERSIONS.name, 'stamp_prices'];
  await allEnded(tables.map((name) => deleteWhere(clickhouse, name, condition, { generation, tick })));
}

/** Replaces stamps whose values have changed. Idempotent. */
export async function replaceConversions(
  clickhouse: ClickHouse,
  generation: number,
  rows: readonly StampRow[],
): Promise<void> {
  for (let first = 0; first < rows.length; first += KEYS_PER_DELETE) {
    const part = rows.slice(first, first + KEYS_PER_DELETE);
    const heights = part.map(({ height }) => height);
    const keys = part.map(({ chain, transfer }) => `('${chain}','${transfer.txid}',${transfer.vout})`);
    const condition = `generation = {generation:UInt32} AND import_height BETWEEN {low:UInt32} AND {high:UInt32}
      AND (chain, txid, vout) IN (${keys.join(',')})`;
    const params = { generation, low: Math.min(...heights), high: Math.max(...heights) };
    await deleteWhere(clickhouse, CLICKHOUSE_CONVERSIONS.name, condition, params);
    await insert(clickhouse, ofGeneration(CLICKHOUSE_CONVERSIONS, generation), part);
  }
}

function insert<Row>(
  clickhouse: ClickHouse,
  { name, columns, values }: ClickHousePriceTable<Row>,
  rows: readonly Row[],
) {
  return clickhouse.insert(name, columns, rows.values().map(values));
}

/** Checks for a match first, because a delete rewrites every part of a table even if it matches nothing. */
export async function deleteWhere(
  clickhouse: ClickHouse,
  table: string,
  condition: string,
  params: Record<string, unknown>,
): Promise<void> {
  const found = await clickhouse.query(`SELECT 1 FROM ${table} WHERE ${condition} LIMIT 1`, params);
  if (found.length > 0) await clickhouse.command(`DELETE FROM ${table} WHERE ${condition}`, params);
}
