/** Conversions of four chains with the prices of their sides, made by ClickHouse itself from numbers. */

import type { Regime } from '../../domain/stamps.ts';
import { SECONDS_PER_DAY } from '../../domain/time.ts';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';

export const CHAINS = ['one', 'two', 'three', 'four'] as const;
/** i0 is an anchor, i1 to i4 are the chains' native currencies, i10 and up are baskets. */
export const CURRENCIES = 20;
export const FIRST_BASKET = 10;
const PER_TICK = 2;
const BLOCK_SECONDS = 60;

export interface Made {
  /** Newest tick. */
  readonly high: number;
  /** UTC day that the clock of each chain has reached. */
  readonly days: ReadonlyMap<string, number>;
}

const id = (hash: string) => `concat('i', toString(${hash} % ${CURRENCIES}))`;

/** Into generation 1; what they are stamped with into generation 2. */
export async function makeConversions(clickhouse: ClickHouse, count: number, regime: Regime): Promise<Made> {
  const high = Math.ceil(count / PER_TICK) - 1;
  for (const table of ['conversions', 'stamp_prices', 'stamp_bounds'])
    await clickhouse.command(`TRUNCATE TABLE ${table}`);
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
     FROM (SELECT number, sipHash64(number) AS hash FROM numbers({count:UInt64}))`,
    { count },
  );
  await clickhouse.command(
    `INSERT INTO stamp_prices (generation, tick, currency_id, regime, usd_per_satoshi, price_basket, is_anchor, is_native, is_basket, inputs)
     SELECT 2, tick, currency, {regime:String},
       if(hash % 40 = 0, NULL, toDecimal256(concat('0.0000000', leftPad(toString(hash), 20, '0'), '12345678901'), 38)),
       'i10', currency = 'i0', currency = concat('i', toString(tick % ${CHAINS.length} + 1)), length(currency) = 3, ''
     FROM (SELECT DISTINCT tick, toString(arrayJoin([from_currency_id, to_currency_id])) AS currency, sipHash64(currency, intDiv(tick, 5000)) AS hash
       FROM conversions WHERE generation = 1)`,
    { regime },
  );
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

/** The baseline: the same rows joined with both prices and written, and nothing decided. */
export async function bareJoin(clickhouse: ClickHouse): Promise<void> {
  await clickhouse.command('DROP TABLE IF EXISTS bare');
  await clickhouse.command(
    `CREATE TABLE bare ENGINE = MergeTree ORDER BY (chain, import_height, txid, vout) AS
     SELECT * EXCEPT (from_usd, to_usd, usd_value, rule, regime, diverged, provisional, reason), toNullable(toDecimal256(0, 38)) AS from_price,
       toNullable(toDecimal256(0, 38)) AS to_price FROM conversions LIMIT 0`,
  );
  await clickhouse.command(
    `INSERT INTO bare
     SELECT c.* EXCEPT (from_usd, to_usd, usd_value, rule, regime, diverged, provisional, reason), f.usd_per_satoshi, t.usd_per_satoshi
     FROM (SELECT * FROM conversions WHERE generation = 1) AS c
     LEFT JOIN (SELECT tick, currency_id, usd_per_satoshi FROM stamp_prices WHERE generation = 2) AS f
       ON f.tick = c.tick AND f.currency_id = c.from_currency_id
     LEFT JOIN (SELECT tick, currency_id, usd_per_satoshi FROM stamp_prices WHERE generation = 2) AS t
       ON t.tick = c.tick AND t.currency_id = c.to_currency_id`,
  );
}
