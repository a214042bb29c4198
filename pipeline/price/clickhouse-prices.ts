/** Prices and stamped conversions in ClickHouse, which has no transaction: always written before Postgres commits. */
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import type { StampRow } from '../../processors/pricing/price-fold.ts';
import type { PriceBatch } from './price-batch.ts';
import { CLICKHOUSE_CONVERSIONS, CLICKHOUSE_PRICES, type ClickHouseTable, GENERATION } from './price-rows.ts';

/** Keys of one delete: far below the longest statement that ClickHouse parses. */
const KEYS_PER_DELETE = 1000;

/** When one insert fails the other is waited for, so that none lands after the caller knows. */
export async function insertBatch(clickhouse: ClickHouse, batch: PriceBatch): Promise<void> {
  await replaceConversions(clickhouse, batch.corrections);
  await settled([
    insert(clickhouse, CLICKHOUSE_PRICES, batch.prices),
    insert(clickhouse, CLICKHOUSE_CONVERSIONS, batch.stamps),
  ]);
}

/** Takes away every row of `tick` and later. Twice is as once. */
export async function deleteFrom(clickhouse: ClickHouse, tick: number): Promise<void> {
  const condition = 'generation = {generation:UInt32} AND tick >= {tick:UInt64}';
  const params = { generation: GENERATION, tick };
  await settled(
    [CLICKHOUSE_PRICES, CLICKHOUSE_CONVERSIONS].map(({ name }) => deleteWhere(clickhouse, name, condition, params)),
  );
}

/** Stamps that read otherwise than they were written. Twice is as once. */
export async function replaceConversions(clickhouse: ClickHouse, rows: readonly StampRow[]): Promise<void> {
  for (let first = 0; first < rows.length; first += KEYS_PER_DELETE) {
    const part = rows.slice(first, first + KEYS_PER_DELETE);
    const heights = part.map(({ height }) => height);
    const keys = part.map(({ chain, transfer }) => `('${chain}','${transfer.txid}',${transfer.vout})`);
    const condition = `generation = {generation:UInt32} AND import_height BETWEEN {low:UInt32} AND {high:UInt32}
      AND (chain, txid, vout) IN (${keys.join(',')})`;
    const params = { generation: GENERATION, low: Math.min(...heights), high: Math.max(...heights) };
    await deleteWhere(clickhouse, CLICKHOUSE_CONVERSIONS.name, condition, params);
    await insert(clickhouse, CLICKHOUSE_CONVERSIONS, part);
  }
}

function insert<Row>(clickhouse: ClickHouse, { name, columns, values }: ClickHouseTable<Row>, rows: readonly Row[]) {
  return clickhouse.insert(name, columns, rows.values().map(values));
}

/** Asks first: a delete makes every part of a table anew, also when it finds nothing. */
async function deleteWhere(clickhouse: ClickHouse, table: string, condition: string, params: Record<string, unknown>) {
  const found = await clickhouse.query(`SELECT 1 FROM ${table} WHERE ${condition} LIMIT 1`, params);
  if (found.length > 0) await clickhouse.command(`DELETE FROM ${table} WHERE ${condition}`, params);
}

async function settled(work: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(work);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
