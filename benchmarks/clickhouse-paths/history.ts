/** The history in ClickHouse other than the conversions of the four chains, which ClickHouse generates from numbers. */

import { SECONDS_PER_DAY } from '../../domain/time.ts';
import type { Stores } from '../../infra/stores.ts';
import { rollUp } from '../../pipeline/price/rollups.ts';
import { stampAll } from '../../pipeline/reprocess/stamp-all.ts';
import { CHAINS, CURRENCIES, FIRST_BASKET, makeConversions, newestTick } from '../reprocess/made-conversions.ts';

/** The served generation, which has the conversions with their stamps. */
export const SERVED = 2;
export const BLOCK_SECONDS = 60;
export const BEGIN = 1_700_000_000;
/** A basket's state changes once in this many blocks. */
export const STATE_BLOCKS = 10;

const SNAPSHOT_SECONDS = 300;
const BASKETS = CURRENCIES - FIRST_BASKET;

export interface BenchmarkHistory {
  /** The newest tick, and the newest block of each chain. */
  readonly tick: number;
  readonly height: number;
}

const chainOf = (number: string) => `[${CHAINS.map((name) => `'${name}'`).join()}][${number} % ${CHAINS.length} + 1]`;
const timeOf = (height: string) => `fromUnixTimestamp(${BEGIN} + (${height}) * ${BLOCK_SECONDS})`;
const RESERVES = `['i0', 'i1', 'i2'], [40000000, 30000000, 30000000],
  [toInt64(100000000000 + sipHash64(height) % 1000000000), 50000000000, 20000000000]`;

const BLOCKS = `INSERT INTO blocks (chain, height, hash, time, clock, size, tx_count, validation_type, difficulty, reward,
    miner_address, fees, position, fee_pool, transparent_change, shielded_supply)
  SELECT ${chainOf('number')}, intDiv(number, ${CHAINS.length}) AS height, leftPad('', 64, '0'), ${timeOf('height')}, ${timeOf('height')},
    1000, 1 + number % 9, if(number % 2 = 0, 'stake', 'work'), 1000 + number % 1000, 600000000, '', 0, height, 0, 600000000, 0
  FROM numbers({heights:UInt64} * ${CHAINS.length})`;
const PRICES = `INSERT INTO prices (generation, currency_id, tick, chain, height, time, tier, usd_price, ema_price, total_depth,
    source_basket, baskets)
  SELECT ${SERVED}, concat('i', toString(number % ${CURRENCIES})), intDiv(number, ${CURRENCIES}) * ${CHAINS.length}, '${CHAINS[0]}',
    intDiv(number, ${CURRENCIES}) AS height, ${timeOf('height')}, 1,
    toDecimal256(concat(toString(1 + number % 7), '.', leftPad(toString(sipHash64(number) % 1000000000), 9, '0')), 30) AS price, price,
    toDecimal256(250000, 30), 'i10',
    '[{"basketId":"i10","chain":"${CHAINS[0]}","price":"1.5","depth":"150000"},{"basketId":"i11","chain":"${CHAINS[0]}","price":"1.4","depth":"100000"}]'
  FROM numbers({heights:UInt64} * ${CURRENCIES})`;
const STATES = `INSERT INTO currency_states
  SELECT ${chainOf(`number % ${BASKETS}`)}, concat('i', toString(${FIRST_BASKET} + number % ${BASKETS})),
    intDiv(number, ${BASKETS}) * ${STATE_BLOCKS} AS height, 1, 1, ${timeOf('height')}, 49, 100000000000, ${RESERVES}, height
  FROM numbers(intDiv({heights:UInt64}, ${STATE_BLOCKS}) * ${BASKETS})`;
const SNAPSHOTS = `INSERT INTO reserve_snapshots
  SELECT ${chainOf(`number % ${BASKETS}`)}, concat('i', toString(${FIRST_BASKET} + number % ${BASKETS})),
    fromUnixTimestamp(intDiv(${BEGIN}, ${SNAPSHOT_SECONDS}) * ${SNAPSHOT_SECONDS} + intDiv(number, ${BASKETS}) * ${SNAPSHOT_SECONDS}),
    intDiv(number, ${BASKETS}) * ${SNAPSHOT_SECONDS / BLOCK_SECONDS} AS height, height, 100000000000, ${RESERVES}, height
  FROM numbers(intDiv({heights:UInt64} * ${BLOCK_SECONDS}, ${SNAPSHOT_SECONDS}) * ${BASKETS})`;

/** Balance changes, derived only from the requests. */
const DELTAS = `INSERT INTO address_deltas
  SELECT chain, arrayJoin([source, destination]), from_currency_id, import_height, vout, time, txid, amount_in, 0, import_height
  FROM conversions WHERE generation = 1`;

async function makeStamped({ clickhouse }: Stores, conversions: number): Promise<void> {
  const { high, days } = await makeConversions(clickhouse, conversions, 'live');
  await clickhouse.command(DELTAS);
  await stampAll(clickhouse, { generation: SERVED, base: 1, high, hasBackfill: false, days });
}

/**
 * Rolls up the days as the price stage does. `make` fills the conversions of the served generation with their stamps, and the balance
 * changes.
 */
export async function makeHistory(
  stores: Stores,
  conversions: number,
  make: (stores: Stores, conversions: number) => Promise<void> = makeStamped,
): Promise<BenchmarkHistory> {
  const { clickhouse, postgres } = stores;
  const tick = newestTick(conversions);
  const height = Math.floor(tick / CHAINS.length);
  await make(stores, conversions);
  for (const sql of [BLOCKS, PRICES, STATES, SNAPSHOTS]) await clickhouse.command(sql, { heights: height + 1 });
  await postgres.pool.query('UPDATE generations SET served = false');
  await postgres.pool.query(
    `INSERT INTO generations (generation, served, description) VALUES ($1, true, 'benchmark')`,
    [SERVED],
  );
  const today = Math.floor((BEGIN + height * BLOCK_SECONDS) / SECONDS_PER_DAY);
  const span = { generation: SERVED, after: -1, through: today - 1 };
  await postgres.transaction((client) => rollUp(client, clickhouse, span, tick));
  return { tick, height };
}
