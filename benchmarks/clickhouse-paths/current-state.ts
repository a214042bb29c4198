/** The data in Postgres about the same four chains: blocks, conversions with their stamps, baskets, and positions of the stages. */
import { createHash } from 'node:crypto';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { CHAINS, CURRENCIES, FIRST_BASKET } from '../reprocess/made-conversions.ts';
import { BEGIN, type BenchmarkHistory, BLOCK_SECONDS, SERVED, STATE_BLOCKS } from './history.ts';

const CHAIN_NAMES = `ARRAY['${CHAINS.join("', '")}']`;
const chainOf = (number: string) => `(${CHAIN_NAMES})[(${number}) % ${CHAINS.length} + 1]`;
const timeOf = (height: string) => `(${BEGIN} + (${height})::bigint * ${BLOCK_SECONDS})`;
const hashOf = (text: string) => `sha256((${text})::bytea)`;
const idOf = (number: string) => `'i' || (${number}) % ${CURRENCIES}`;
const basketOf = (number: string) => `'i' || ${FIRST_BASKET} + (${number}) % ${CURRENCIES - FIRST_BASKET}`;
/** Number of different addresses in conversions. */
const ADDRESSES = 10_000;

const RESERVES = `jsonb_build_array(
  jsonb_build_object('currencyId', 'i0', 'weight', '40000000', 'reserves', (100000000000 + height)::text, 'priceInReserve', '250000000'),
  jsonb_build_object('currencyId', 'i1', 'weight', '30000000', 'reserves', '50000000000', 'priceInReserve', '166666666'),
  jsonb_build_object('currencyId', 'i2', 'weight', '30000000', 'reserves', '20000000000', 'priceInReserve', '66666666'))`;

/** Parameters of each statement: conversions, newest tick, newest height. */
const STATEMENTS = [
  `INSERT INTO blocks (chain, height, hash, previous_hash, time, clock, size, tx_count, validation_type, difficulty, bits, nonce, version,
     merkle_root, chain_work, chain_stake, reward, miner_address, fees, fee_pool, position, transparent_change, shielded_supply)
   SELECT chain, height, ${hashOf('chain || height')}, ${hashOf('chain || height - 1')}, ${timeOf('height')}, ${timeOf('height')}, 1000, 2,
     CASE height % 2 WHEN 0 THEN 'stake' ELSE 'work' END, '1000', '1d00ffff', '00', 65540, '\\x00',
     decode(lpad(to_hex(height::bigint * 1000), 64, '0'), 'hex'), '\\x00', 600000000, NULL, 0, 0, height, 600000000, 0
   FROM unnest(${CHAIN_NAMES}) AS chain, generate_series(0, $3::integer) AS height`,
  `INSERT INTO price_ticks SELECT tick, ${chainOf('tick')}, tick / ${CHAINS.length}, ${hashOf(`${chainOf('tick')} || tick / ${CHAINS.length}`)},
     ${timeOf(`tick / ${CHAINS.length}`)}, tick FROM generate_series(0, $2::integer) AS tick`,
  `INSERT INTO transfers (chain, txid, vout, from_height, kind, status, flags, from_currency_id, to_currency_id, import_currency_id,
     amount_in, transfer_fee, transfer_fee_currency_id, conversion_fee, amount_out, destination, source, request_height, request_time,
     export_txid, export_vout, export_height, export_index, import_txid, import_height, import_time, payout_vout, position)
   SELECT ${chainOf('tick')}, ${hashOf('number::text')}, 0, height, 'convert', CASE number % 50 WHEN 0 THEN 'refunded' ELSE 'completed' END, 3,
     ${idOf('number')}, ${idOf('number * 7 + 3')}, ${basketOf('number')}, 1000000 + number, 20000, 'i1', 250, 2000000 + number,
     'R' || number * 31 % ${ADDRESSES}, 'R' || number % ${ADDRESSES}, greatest(height - 2, 0), ${timeOf('greatest(height - 2, 0)')},
     ${hashOf(`'export' || tick`)}, 0, height, number % 2, ${hashOf(`'import' || tick`)}, height, ${timeOf('height')}, 2, height
   FROM (SELECT number, number / 2 AS tick, number / ${2 * CHAINS.length} AS height FROM generate_series(0, $1::integer - 1) AS number) AS made ORDER BY 1, 2`,
  `INSERT INTO stamps (generation, chain, txid, vout, tick, regime, regime_version, price_height, from_usd, to_usd, usd_value, rule,
     priced_currency_id, priced_currency_usd, price_basket, diverged, provisional, inputs)
   SELECT ${SERVED}, chain, txid, vout, 0, 'live', 1, import_height, amount_in / 1e8, amount_out / 1e8, amount_in / 1e8, 'to_side',
     to_currency_id, 1, import_currency_id, false, false, '{}' FROM transfers ORDER BY chain, txid`,
  `INSERT INTO currencies (chain, currency_id, from_height, tx_index, vout, txid, name, fully_qualified_name, system_id, currency_type,
     options, start_block, definition, position)
   SELECT ${chainOf(`number % ${FIRST_BASKET}`)}, ${idOf('number')}, 0, 0, 0, '\\x00', 'currency' || number, 'currency' || number, 'i1',
     CASE WHEN number < ${FIRST_BASKET} THEN 'token' ELSE 'basket' END, CASE WHEN number < ${FIRST_BASKET} THEN 32 ELSE 33 END, 0, '{}', 0
   FROM generate_series(0, ${CURRENCIES - 1}) AS number`,
  `INSERT INTO currency_states (chain, currency_id, from_height, to_height, tx_index, vout, txid, flags, supply, reserves, live_height, state,
     position)
   SELECT ${chainOf('number')}, ${basketOf('number')}, height, CASE WHEN height + ${STATE_BLOCKS} <= $3 THEN height + ${STATE_BLOCKS} END, 1, 1,
     '\\x00', 49, 100000000000, ${RESERVES}, 0, '{}', height
   FROM generate_series(0, ${CURRENCIES - FIRST_BASKET - 1}) AS number, generate_series(0, $3::integer, ${STATE_BLOCKS}) AS height`,
  `INSERT INTO prices (generation, currency_id, tick, chain, height, time, tier, usd_price, ema_price, total_depth, source_basket, baskets)
   SELECT ${SERVED}, ${idOf('number')}, $2::integer / ${CHAINS.length} * ${CHAINS.length}, '${CHAINS[0]}', $3, ${timeOf('$3::integer')}, 1, 1.5, 1.5, 250000, 'i10',
     '[{"basketId":"i10","chain":"${CHAINS[0]}","price":"1.5","depth":"250000"}]'
   FROM generate_series(0, ${CURRENCIES - 1}) AS number`,
  `INSERT INTO stage_positions SELECT stage, chain, $3, $3, ${hashOf('chain || $3::integer')}, ${timeOf('$3::integer')}
   FROM unnest(${CHAIN_NAMES}) AS chain, unnest(ARRAY['derive', 'price']) AS stage`,
];

/** Large tables are filled unlogged and in key order, and get their other indexes afterwards. */
const LARGE = [
  'blocks',
  'price_ticks',
  'transfers',
  'stamps',
  'currency_states',
  'balance_versions',
  'newest_balances',
];
const INDEXES_SQL = `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
  WHERE tablename = ANY($1) AND indexname NOT LIKE '%\\_pkey'`;

/** `conversions` limits how many conversions are written, from the first one. `fill` adds rows from another source. */
export async function makeCurrentState(
  { pool }: Postgres,
  { tick, height }: BenchmarkHistory,
  conversions: number,
  fill: () => Promise<void> = async () => undefined,
): Promise<void> {
  const { rows } = await pool.query<{ name: string; definition: string }>(INDEXES_SQL, [LARGE]);
  for (const table of LARGE) await pool.query(`ALTER TABLE ${table} SET UNLOGGED`);
  for (const { name } of rows) await pool.query(`DROP INDEX ${name}`);
  for (const sql of STATEMENTS) await pool.query(`${GIVEN} ${sql}`, [conversions, tick, height]);
  await fill();
  await inLanes(rows, ({ definition }) => pool.query(definition));
  await inLanes(LARGE, (table) => pool.query(`VACUUM ANALYZE ${table}`));
  await pool.query('ANALYZE');
}

/** Runs two items at a time, because one item rarely uses the whole machine. */
export async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items.values();
  const lane = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all([lane(), lane()]);
}

/** Declares every parameter, because some statements do not use all of them. */
const GIVEN = 'WITH given AS (SELECT $1::integer, $2::integer, $3::integer)';

/** Moves every chain by one block, so that cached answers are computed again. */
export async function moveOn({ pool }: Postgres): Promise<void> {
  await pool.query('UPDATE stage_positions SET position = position + 1');
}

/** The txid of a conversion by its number. */
export const txidOf = (conversion: number): string => createHash('sha256').update(String(conversion)).digest('hex');
