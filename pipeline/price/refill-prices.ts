/** After a rewind: brings back from ClickHouse what was pruned for blocks that are gone. */
import type { PoolClient } from 'pg';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { type CopyValue, copyRows } from '../../infra/postgres/copy.ts';

const COLUMNS = [
  'currency_id',
  'tick',
  'chain',
  'height',
  'time',
  'tier',
  'usd_price',
  'ema_price',
  'total_depth',
  'source_basket',
  'baskets',
] as const;

type PriceRecord = Readonly<Record<(typeof COLUMNS)[number], string | number>>;

/** Leaves in `prices` what pruning at `height` of the default chain would have left. */
export async function refillPrices(
  client: PoolClient,
  clickhouse: ClickHouse,
  generation: number,
  defaultChain: string,
  height: number,
): Promise<void> {
  const horizon = await client.query<{ tick: bigint }>(
    'SELECT tick FROM price_ticks WHERE chain = $1 AND height = $2',
    [defaultChain, height],
  );
  const params = { generation, chain: defaultChain, tick: horizon.rows[0]?.tick ?? 0n };
  const records = await clickhouse.query<PriceRecord>(
    `SELECT ${COLUMNS.map((name) => (name === 'time' ? 'toUnixTimestamp(time) AS time' : name)).join(', ')} FROM prices
     LEFT JOIN (
       SELECT currency_id, max(tick) AS kept FROM prices
       WHERE generation = {generation:UInt32} AND chain = {chain:String} AND tick <= {tick:UInt64} GROUP BY currency_id
     ) AS newest USING currency_id
     WHERE generation = {generation:UInt32} AND tick >= kept`,
    params,
  );
  const held = await client.query<{ currency_id: string; tick: bigint }>(
    'SELECT currency_id, tick FROM prices WHERE generation = $1',
    [generation],
  );
  const known = new Set(held.rows.map((row) => `${row.currency_id} ${row.tick}`));
  const missing = records.filter((row) => !known.has(`${row.currency_id} ${row.tick}`));
  await copyRows(
    client,
    'prices',
    ['generation', ...COLUMNS],
    missing.map((row) => [generation, ...COLUMNS.map((name) => copyValue(name, row[name]))]),
  );
}

function copyValue(name: (typeof COLUMNS)[number], value: string | number): CopyValue {
  if (name === 'baskets') return { json: String(value) };
  return name === 'source_basket' && value === '' ? null : value;
}
