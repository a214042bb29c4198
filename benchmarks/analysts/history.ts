/** Fills both stores with the same conversions of four chains, so that answers from one can be compared with sums over the other. */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { keyAddress } from '../../domain/addresses.ts';
import type { Stores } from '../../infra/stores.ts';
import { inLanes, makeCurrentState } from '../clickhouse-paths/current-state.ts';
import { BEGIN, type BenchmarkHistory, BLOCK_SECONDS, makeHistory, SERVED } from '../clickhouse-paths/history.ts';
import { CHAINS, CURRENCIES, FIRST_BASKET, PER_TICK } from '../reprocess/made-conversions.ts';

/** Addresses of the conversions; each has many of them. */
export const ADDRESSES: readonly string[] = Array.from({ length: 10_000 }, (_, number) =>
  keyAddress(Buffer.from(String(number))),
);
/** The generation that is not served. */
const OTHER = 1;

const address = (salt: number) =>
  `[${ADDRESSES.map((text) => `'${text}'`).join()}][sipHash64(number, ${salt}) % ${ADDRESSES.length} + 1]`;
const id = (number: string) => `concat('i', toString(${number} % ${CURRENCIES}))`;
/** USD value of an amount at a price in cents; values of the other generation are a percentage of those of the served one. */
const usd = (amount: string, cents: string) =>
  `toDecimal256(${amount} * (${cents}) * {hundredths:UInt32}, 0) * toDecimal256('0.000000000001', 12)`;

/** Conversions with their stamps, in the order of the chains. */
const STAMPED = `INSERT INTO conversions (generation, chain, txid, vout, tick, kind, status, from_currency_id, to_currency_id, basket_id,
    amount_in, amount_out, conversion_fee, source, destination, request_height, import_height, time, from_usd, to_usd, usd_value, rule,
    regime, diverged, provisional, reason)
  SELECT {generation:UInt32}, [${CHAINS.map((name) => `'${name}'`).join()}][tick % ${CHAINS.length} + 1],
    lower(hex(SHA256(toString(number)))), 0, intDiv(number, ${PER_TICK}) AS tick, 'convert',
    if(hash % 50 = 0, 'refunded', 'completed') AS status, ${id('hash')}, ${id('(hash + 1 + intDiv(hash, 1000) % 19)')},
    concat('i', toString(${FIRST_BASKET} + number % ${CURRENCIES - FIRST_BASKET})),
    toInt64(hash % 1000000000000) AS paid, if(status = 'refunded', NULL, toInt64(intDiv(hash, 7) % 1000000000000)) AS brought, 1000,
    ${address(1)}, ${address(2)}, greatest(height - 2, 0), intDiv(tick, ${CHAINS.length}) AS height,
    fromUnixTimestamp(${BEGIN} + height * ${BLOCK_SECONDS}),
    if(hash % 41 = 0, NULL, ${usd('paid', '100 + hash % 900')}) AS given_usd,
    if(hash % 43 = 0, NULL, ${usd('brought', '100 + intDiv(hash, 900) % 900')}) AS brought_usd,
    if(status = 'refunded', NULL, coalesce(brought_usd, given_usd)) AS worth,
    multiIf(worth IS NULL, 'unpriced', brought_usd IS NULL, 'to_basket_from', 'to_side'), {regime:String},
    worth IS NOT NULL AND hash % 16 = 0, false, if(status = 'refunded', 'refunded', if(worth IS NULL, 'no_price', ''))
  FROM (SELECT number, sipHash64(number) AS hash FROM numbers({first:UInt64}, {count:UInt64}))
  SETTINGS max_query_size = 10000000`;
/** Conversions per statement, which ClickHouse sorts in memory. */
const AT_ONCE = 250_000;

const DELTAS = `INSERT INTO address_deltas
  SELECT chain, tupleElement(moved, 1), tupleElement(moved, 2), import_height, vout, time, txid, tupleElement(moved, 3), tupleElement(moved, 4), import_height
  FROM (SELECT *, arrayJoin([
      (source, from_currency_id, amount_in, intDiv(amount_in, 2)), (destination, to_currency_id, ifNull(amount_out, amount_in), toInt64(0))]) AS moved
    FROM conversions WHERE generation = ${SERVED})`;

/** Fills both generations; the other one has the rules from before the cutover, and values that are 1 % higher. */
async function makeStamped({ clickhouse }: Stores, conversions: number): Promise<void> {
  for (const of of [
    { generation: SERVED, regime: 'live', hundredths: 100 },
    { generation: OTHER, regime: 'backfill', hundredths: 101 },
  ]) {
    for (let first = 0; first < conversions; first += AT_ONCE) {
      await clickhouse.command(STAMPED, { ...of, first, count: Math.min(AT_ONCE, conversions - first) });
    }
  }
  await clickhouse.command(DELTAS);
}

const time = (height: string) => `${BEGIN} + toInt64(${height}) * ${BLOCK_SECONDS}`;
const BYTES = "concat('\\\\x', txid)";

/** Changes of balances at the end of each block. */
const CHANGES = `(SELECT chain, address, currency_id, height, sum(received) AS received, sum(sent) AS sent FROM address_deltas
  GROUP BY chain, address, currency_id, height)`;

/**
 * Rows that Postgres takes from ClickHouse, in the order in which the service writes them, so that rows are as close together or far apart
 * as in the service.
 */
const COPIED = {
  [`transfers (chain, txid, vout, from_height, kind, status, flags, from_currency_id, to_currency_id, import_currency_id, amount_in,
     transfer_fee, transfer_fee_currency_id, conversion_fee, amount_out, destination, source, request_height, request_time,
     import_txid, import_height, import_time, position)`]: `SELECT chain, ${BYTES}, vout, import_height AS from_height, kind, status, 3, from_currency_id,
     to_currency_id, basket_id, amount_in, 20000, 'i1', conversion_fee, amount_out, destination, source, request_height,
     ${time('request_height')}, concat('\\\\x', lower(hex(SHA256(concat('import', toString(tick)))))), import_height, ${time('import_height')}, import_height AS position
   FROM conversions WHERE generation = ${SERVED} ORDER BY tick`,
  [`stamps (generation, chain, txid, vout, tick, regime, regime_version, price_height, from_usd, to_usd, usd_value, rule, diverged,
     provisional, reason, inputs)`]: `SELECT generation, chain, ${BYTES}, vout, tick, regime, 1, import_height, toString(from_usd), toString(to_usd),
     toString(usd_value), rule, diverged, provisional, nullIf(toString(reason), ''), '{}'
   FROM conversions WHERE generation = ${SERVED} ORDER BY tick`,
  'balance_versions (chain, address, currency_id, from_height, balance, received, position)': `SELECT chain, address, currency_id, height,
     sum(received - sent) OVER up_to, sum(received) OVER up_to, height AS position
   FROM ${CHANGES}
   WINDOW up_to AS (PARTITION BY chain, address, currency_id ORDER BY height ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
   ORDER BY height`,
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

/** Rolls up all days but the last, in both generations. */
export async function makeAnalystsHistory(stores: Stores, conversions: number): Promise<BenchmarkHistory> {
  const { postgres } = stores;
  const history = await makeHistory(stores, conversions, makeStamped);
  await postgres.pool.query(
    `INSERT INTO rolled_days SELECT ${OTHER}, day, tick FROM rolled_days WHERE generation = ${SERVED}`,
  );
  await makeCurrentState(postgres, history, 0, () =>
    inLanes(Object.entries(COPIED), ([table, select]) => copyInto(stores, table, select)),
  );
  return history;
}
