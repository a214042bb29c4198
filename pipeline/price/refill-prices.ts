/** After a rewind, restores from ClickHouse the prices that were pruned because of removed blocks. */
import type { PoolClient } from 'pg';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { type CopyValue, copyRows } from '../../infra/postgres/copy.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';

const PRICE = {
  currency_id: columns.text,
  tick: columns.text,
  chain: columns.text,
  height: columns.number,
  time: columns.number,
  tier: columns.number,
  usd_price: columns.text,
  ema_price: columns.text,
  total_depth: columns.text,
  source_basket: columns.text,
  baskets: columns.text,
};
const readPrice = rowReader(PRICE);
const readTicks = rowReader({ horizon: columns.bigint, through: columns.bigint });
const readHeld = rowReader({ currency_id: columns.text, tick: columns.bigint });
const COLUMNS = Object.keys(PRICE) as readonly (keyof typeof PRICE)[];

/** Makes `prices` contain what pruning at `height` of the default chain would have left. Call it after undoing ticks. */
export async function refillPrices(
  client: PoolClient,
  clickhouse: ClickHouse,
  generation: number,
  defaultChain: string,
  height: number,
): Promise<void> {
  // ClickHouse may have rows beyond the progress of a generation in the making: they were never committed, or were undone since.
  const ticks = await readRow(
    client,
    readTicks,
    `SELECT coalesce((SELECT tick FROM price_ticks WHERE chain = $2 AND height = $3), 0) AS horizon,
       coalesce((SELECT priced FROM reprocessing WHERE generation = $1), (SELECT max(tick) FROM price_ticks), -1) AS through`,
    [generation, defaultChain, height],
  );
  if (!ticks || ticks.through < 0n) return;
  const params = { generation, chain: defaultChain, ...ticks };
  const records = await clickhouse.rows(
    readPrice,
    `SELECT ${COLUMNS.map((name) => (name === 'time' ? 'toUnixTimestamp(time) AS time' : name)).join(', ')} FROM prices
     LEFT JOIN (
       SELECT currency_id, max(tick) AS kept FROM prices
       WHERE generation = {generation:UInt32} AND chain = {chain:String}
         AND tick <= least({horizon:UInt64}, {through:UInt64}) GROUP BY currency_id
     ) AS newest USING currency_id
     WHERE generation = {generation:UInt32} AND tick >= kept AND tick <= {through:UInt64}`,
    params,
  );
  const heldSql = 'SELECT currency_id, tick FROM prices WHERE generation = $1';
  const held = await readRows(client, readHeld, heldSql, [generation]);
  const known = new Set(held.map((row) => `${row.currency_id} ${row.tick}`));
  const missing = records.filter((row) => !known.has(`${row.currency_id} ${row.tick}`));
  await copyRows(
    client,
    'prices',
    ['generation', ...COLUMNS],
    missing.map((row) => [generation, ...COLUMNS.map((name) => copyValue(name, row[name]))]),
  );
}

function copyValue(name: keyof typeof PRICE, value: string | number): CopyValue {
  if (name === 'baskets') return { json: String(value) };
  return name === 'source_basket' && value === '' ? null : value;
}
