/** Conversions of four chains with the prices of their sides, which ClickHouse generates from numbers. */

import type { Regime } from '../../domain/stamps.ts';
import { SECONDS_PER_DAY } from '../../domain/time.ts';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';

export const CHAINS = ['one', 'two', 'three', 'four'] as const;
/** i0 is an anchor, i1 to i4 are the native currencies of the chains, i10 and above are baskets. */
export const CURRENCIES = 20;
export const FIRST_BASKET = 10;
/** Conversions per tick. */
export const PER_TICK = 2;
export const newestTick = (conversions: number): number => Math.ceil(conversions / PER_TICK) - 1;
const BLOCK_SECONDS = 60;

export interface Made {
  /** Newest tick. */
  readonly high: number;
  /** The UTC day that the clock of each chain has reached. */
  readonly days: ReadonlyMap<string, number>;
}

/** Conversions per statement, so that generating them takes less memory than the measured work. */
const AT_ONCE = 100_000;

/** Inputs of a stamp with one side only, in the size and shape of those of a basket with three reserves. */
const BASKET = `concat('{"chain":"one","basketId":"i10","height":', toString(intDiv(tick, 5000)),
  ',"supply":"2500000000000","reserves":[', arrayStringConcat(arrayMap(reserve -> concat('{"currencyId":"i', toString(reserve),
  '","reserves":"', toString(sipHash64(reserve, intDiv(tick, 5000)) % 100000000000000), '","weight":"33333333"}'), [0, 1, 2]), ','), ']}')`;
const INPUTS = `concat('{"prices":[{"currencyId":"', currency, '","tier":1,"usd":"0.', toString(hash),
  '12345678901","totalDepth":"250000.123456789012345678901234567","sourceBasket":"i10","entries":[{"chain":"one","basketId":"i10","price":"0.',
  toString(hash), '12345678901","depth":"250000.123456789012345678901234567","hop":null}]}],"baskets":[', ${BASKET}, '],"anchors":["i0"]}')`;

const id = (hash: string) => `concat('i', toString(${hash} % ${CURRENCIES}))`;

/** Writes conversions to generation 1, and the prices for stamping them to generation 2. */
export async function makeConversions(clickhouse: ClickHouse, count: number, regime: Regime): Promise<Made> {
  const high = newestTick(count);
  for (const table of ['conversions', 'stamp_prices', 'stamp_bounds'])
    await clickhouse.command(`TRUNCATE TABLE ${table}`);
  for (let first = 0; first < count; first += AT_ONCE) {
    await makeSome(clickhouse, first, Math.min(AT_ONCE, count - first), regime);
  }
  const [day] = await clickhouse.rows(
    rowReader({ last: columns.number }),
    `SELECT toInt32(intDiv(toUnixTimestamp(max(time)), ${SECONDS_PER_DAY})) AS last FROM conversions`,
  );
  await clickhouse.command(
    `INSERT INTO stamp_bounds SELECT DISTINCT 2, chain, toString(arrayJoin([from_currency_id, to_currency_id])),
       toInt32(intDiv(toUnixTimestamp(time), ${SECONDS_PER_DAY})) AS day, toDecimal256('0.2', 30), 31 FROM conversions`,
  );
  return { high, days: new Map(CHAINS.map((name) => [name, (day?.last ?? 0) + 1])) };
}

/** `first` must be even, because a tick has two conversions. */
async function makeSome(clickhouse: ClickHouse, first: number, count: number, regime: Regime): Promise<void> {
  await clickhouse.command(
    `INSERT INTO conversions (generation, chain, txid, vout, tick, kind, status, from_currency_id, to_currency_id, basket_id,
       amount_in, amount_out, conversion_fee, source, destination, request_height, import_height, time)
     SELECT 1, [${CHAINS.map((name) => `'${name}'`).join()}][tick % ${CHAINS.length} + 1],
       lower(hex(SHA256(toString(number)))), 0, intDiv(number, ${PER_TICK}) AS tick, 'convert',
       if(hash % 50 = 0, 'refunded', 'completed'), ${id('hash')}, ${id('(hash + 1 + intDiv(hash, 1000) % 19)')},
       concat('i', toString(${FIRST_BASKET} + number % ${CURRENCIES - FIRST_BASKET})),
       hash % 1000000000000, if(hash % 50 = 0, NULL, intDiv(hash, 7) % 1000000000000), 1000,
       concat('R', substring(hex(sipHash128(number, 2)), 1, 32)), concat('R', substring(hex(sipHash128(number, 3)), 1, 32)),
       greatest(height - 2, 0), intDiv(tick, ${CHAINS.length}) AS height, fromUnixTimestamp(1700000000 + height * ${BLOCK_SECONDS})
     FROM (SELECT number, sipHash64(number) AS hash FROM numbers({first:UInt64}, {count:UInt64}))`,
    { first, count },
  );
  await clickhouse.command(
    `INSERT INTO stamp_prices (generation, tick, currency_id, regime, usd_per_satoshi, price_basket, is_anchor, is_native, is_basket, inputs)
     SELECT 2, tick, currency, {regime:String},
       if(hash % 40 = 0, NULL, toDecimal256(concat('0.0000000', leftPad(toString(hash), 20, '0'), '12345678901'), 38)),
       'i10', currency = 'i0', currency = concat('i', toString(tick % ${CHAINS.length} + 1)), length(currency) = 3, ${INPUTS}
     FROM (SELECT DISTINCT tick, toString(arrayJoin([from_currency_id, to_currency_id])) AS currency, sipHash64(currency, intDiv(tick, 5000)) AS hash
       FROM conversions WHERE generation = 1 AND tick BETWEEN {low:UInt64} AND {high:UInt64})`,
    { regime, low: first / PER_TICK, high: Math.ceil((first + count) / PER_TICK) - 1 },
  );
}
