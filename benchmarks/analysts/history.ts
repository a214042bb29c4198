/** Both stores with the same conversions of four chains, so that answers of one can be compared with sums over the other. */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { keyAddress } from '../../domain/addresses.ts';
import { SECONDS_PER_DAY } from '../../domain/time.ts';
import type { Stores } from '../../infra/stores.ts';
import { rollUp } from '../../pipeline/price/rollups.ts';
import { makeCurrentState } from '../clickhouse-paths/current-state.ts';
import { BEGIN, type BenchmarkHistory, BLOCK_SECONDS, makeHistory, SERVED } from '../clickhouse-paths/history.ts';

/** Those of conversions; each converts again and again. */
export const ADDRESSES: readonly string[] = Array.from({ length: 10_000 }, (_, number) =>
  keyAddress(Buffer.from(String(number))),
);
/** The generation that is not served. */
const OTHER = 1;

const address = (salt: number) =>
  `[${ADDRESSES.map((text) => `'${text}'`).join()}][sipHash64(txid, ${salt}) % ${ADDRESSES.length} + 1]`;
const ADDRESSED = `ALTER TABLE conversions UPDATE source = ${address(1)}, destination = ${address(2)} WHERE 1
  SETTINGS mutations_sync = 2, max_query_size = 10000000`;
/** Stamped by the other rules: each value a hundredth higher. */
const OTHER_STAMPS = `INSERT INTO conversions
  SELECT * REPLACE (${OTHER} AS generation, 'backfill' AS regime, usd_value + divideDecimal(usd_value, toDecimal256(100, 0), 38) AS usd_value)
  FROM conversions WHERE generation = ${SERVED}`;
const DELTAS = `INSERT INTO address_deltas
  SELECT chain, tupleElement(moved, 1), tupleElement(moved, 2), import_height, vout, time, txid, tupleElement(moved, 3), tupleElement(moved, 4), import_height
  FROM (SELECT *, arrayJoin([
      (source, from_currency_id, amount_in, intDiv(amount_in, 2)), (destination, to_currency_id, ifNull(amount_out, amount_in), toInt64(0))]) AS moved
    FROM conversions WHERE generation = ${SERVED})`;

const time = (height: string) => `${BEGIN} + toInt64(${height}) * ${BLOCK_SECONDS}`;
const BYTES = "concat('\\\\x', txid)";

/** At the end of a block. */
const CHANGES = `(SELECT chain, address, currency_id, height, sum(received) AS received, sum(sent) AS sent FROM address_deltas
  GROUP BY chain, address, currency_id, height)`;

/** Rows that Postgres takes from ClickHouse, in the order of their keys. */
const COPIED = {
  [`transfers (chain, txid, vout, from_height, kind, status, flags, from_currency_id, to_currency_id, import_currency_id, amount_in,
     transfer_fee, transfer_fee_currency_id, conversion_fee, amount_out, destination, source, request_height, request_time,
     import_txid, import_height, import_time, position)`]: `SELECT chain, ${BYTES}, vout, import_height AS from_height, kind, status, 3, from_currency_id,
     to_currency_id, basket_id, amount_in, 20000, 'i1', conversion_fee, amount_out, destination, source, request_height,
     ${time('request_height')}, concat('\\\\x', lower(hex(SHA256(concat('import', toString(tick)))))), import_height, ${time('import_height')}, import_height AS position
   FROM conversions WHERE generation = ${SERVED} ORDER BY chain, txid`,
  [`stamps (generation, chain, txid, vout, tick, regime, regime_version, price_height, from_usd, to_usd, usd_value, rule, diverged,
     provisional, reason, inputs)`]: `SELECT generation, chain, ${BYTES}, vout, tick, regime, 1, import_height, toString(from_usd), toString(to_usd),
     toString(usd_value), rule, diverged, provisional, nullIf(toString(reason), ''), '{}'
   FROM conversions WHERE generation = ${SERVED} ORDER BY chain, txid`,
  'balance_versions (chain, address, currency_id, from_height, balance, received, position)': `SELECT chain, address, currency_id, height,
     sum(received - sent) OVER up_to, sum(received) OVER up_to, height AS position
   FROM ${CHANGES}
   WINDOW up_to AS (PARTITION BY chain, address, currency_id ORDER BY height ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
   ORDER BY chain, address, currency_id, height`,
  'newest_balances (chain, address, currency_id, balance, received)': `SELECT chain, address, currency_id, sum(received - sent), sum(received)
   FROM address_deltas GROUP BY chain, address, currency_id ORDER BY chain, address, currency_id`,
};

async function copyInto({ clickhouse, postgres }: Stores, table: string, select: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'verustream-bench-'));
  const client = await postgres.pool.connect();
  try {
    const file = join(folder, 'rows.csv');
    await clickhouse.command(`INSERT INTO FUNCTION file('${file}', 'CSV') ${select}`);
    await pipeline(
      createReadStream(file, { highWaterMark: 1 << 20 }),
      client.query(copyFrom(`COPY ${table} FROM STDIN (FORMAT csv, NULL '\\N')`)),
    );
  } finally {
    client.release();
    await rm(folder, { recursive: true });
  }
}

/** All days but the last are closed, in both generations. */
export async function makeAnalystsHistory(stores: Stores, conversions: number): Promise<BenchmarkHistory> {
  const { clickhouse, postgres } = stores;
  const history = await makeHistory(stores, conversions);
  await clickhouse.command(`ALTER TABLE conversions DROP PARTITION ${OTHER}`);
  await clickhouse.command(ADDRESSED);
  await clickhouse.command('TRUNCATE TABLE address_deltas');
  for (const sql of [OTHER_STAMPS, DELTAS]) await clickhouse.command(sql);
  const today = Math.floor((BEGIN + history.height * BLOCK_SECONDS) / SECONDS_PER_DAY);
  const span = { generation: OTHER, after: -1, through: today - 1 };
  await postgres.transaction((client) => rollUp(client, clickhouse, span, history.tick));
  await makeCurrentState(postgres, history, 0, async () => {
    for (const [table, select] of Object.entries(COPIED)) await copyInto(stores, table, select);
  });
  return history;
}
