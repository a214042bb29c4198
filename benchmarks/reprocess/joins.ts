/** The baselines of stamping: the same rows joined with both prices and written, without applying any rules. */
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';

const STAMPED = 'from_usd, to_usd, usd_value, rule, regime, diverged, provisional, reason';
const JOINED = `INSERT INTO bare
  SELECT c.* EXCEPT (${STAMPED}), f.usd_per_satoshi, t.usd_per_satoshi FROM (SELECT * FROM conversions WHERE generation = 1) AS c`;
const PRICES = '(SELECT tick, currency_id, usd_per_satoshi FROM stamp_prices WHERE generation = 2)';

/** The join as a ClickHouse expert would write it. */
export const ASOF_JOIN = `${JOINED}
  ASOF LEFT JOIN ${PRICES} AS f ON f.currency_id = c.from_currency_id AND f.tick <= c.tick
  ASOF LEFT JOIN ${PRICES} AS t ON t.currency_id = c.to_currency_id AND t.tick <= c.tick SETTINGS max_insert_threads = 2`;

/** The baseline of earlier versions. */
export const EQUALITY_JOIN = `${JOINED}
  LEFT JOIN ${PRICES} AS f ON f.tick = c.tick AND f.currency_id = c.from_currency_id
  LEFT JOIN ${PRICES} AS t ON t.tick = c.tick AND t.currency_id = c.to_currency_id`;

/** Creates the empty table into which the joins write. */
export async function emptyBareTable(clickhouse: ClickHouse): Promise<void> {
  await clickhouse.command('DROP TABLE IF EXISTS bare');
  await clickhouse.command(
    `CREATE TABLE bare ENGINE = MergeTree ORDER BY (chain, import_height, txid, vout) AS
     SELECT * EXCEPT (${STAMPED}), toNullable(toDecimal256(0, 38)) AS from_price,
       toNullable(toDecimal256(0, 38)) AS to_price FROM conversions LIMIT 0`,
  );
}
