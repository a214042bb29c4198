/** The stamps of the live regime computed in Postgres SQL, from the same rule table and the same rows. */

import type { Side } from '../../domain/stamps.ts';
import { type CopyValue, copyRows } from '../../infra/postgres/copy.ts';
import type { Stores } from '../../infra/stores.ts';
import { conditionSql } from '../../pipeline/reprocess/stamping-sql.ts';
import { RULES, TRUTH } from '../../processors/pricing/stamp-rules.ts';

const CHUNK_TICKS = 25_000;
const CONVERSION = ['chain', 'txid', 'tick', 'status', 'from_currency_id', 'to_currency_id', 'amount_in', 'amount_out'];
const PRICE = ['tick', 'currency_id', 'usd_per_satoshi', 'is_anchor', 'is_native', 'is_basket'];

const COPIED = [
  { from: 'conversions', generation: 1, into: 'made', columns: CONVERSION },
  { from: 'stamp_prices', generation: 2, into: 'price', columns: PRICE },
];

/** Returns the seconds of the statement, and the sum of the stamped values. */
export async function stampInPostgres(
  { postgres, clickhouse }: Stores,
  high: number,
): Promise<{ seconds: number; sum: string }> {
  return postgres.transaction(async (client) => {
    await client.query(`CREATE TEMPORARY TABLE made (chain text, txid text, tick bigint, status text, from_currency_id text,
        to_currency_id text, amount_in bigint, amount_out bigint) ON COMMIT DROP;
      CREATE TEMPORARY TABLE price (tick bigint, currency_id text, usd_per_satoshi numeric(76,38), is_anchor boolean,
        is_native boolean, is_basket boolean) ON COMMIT DROP;
      CREATE TEMPORARY TABLE stamped (chain text, txid text, tick bigint, from_usd numeric(76,38), to_usd numeric(76,38),
        usd_value numeric(76,38), rule text, diverged boolean) ON COMMIT DROP`);
    for (let low = 0; low <= high; low += CHUNK_TICKS) {
      const range = { low, high: Math.min(high, low + CHUNK_TICKS - 1) };
      const within = 'tick BETWEEN {low:UInt64} AND {high:UInt64}';
      for (const { from, generation, into, columns } of COPIED) {
        const rows = await clickhouse.query(
          `SELECT ${columns.join()} FROM ${from} WHERE generation = ${generation} AND ${within}`,
          range,
        );
        const values = rows.values().map((row) => columns.map((name) => row[name] as CopyValue));
        await copyRows(client, into, columns, values);
      }
    }
    await client.query('ANALYZE made; ANALYZE price');
    const began = performance.now();
    await client.query(STATEMENT);
    const seconds = (performance.now() - began) / 1000;
    const { rows } = await client.query<{ sum: string }>('SELECT trim_scale(sum(usd_value))::text AS sum FROM stamped');
    return { seconds, sum: rows[0]?.sum ?? '' };
  });
}

const sideOf = (side: Side) =>
  ['is_anchor', 'is_native', 'is_basket'].map((name) => `coalesce(${side}_price.${name}, false) AS ${side}_${name}`);
const cases = (rows: readonly (readonly [string, string | number])[]) =>
  `CASE ${rows.map(([when, then]) => `WHEN ${when} THEN ${typeof then === 'number' ? then : `'${then}'`}`).join(' ')} END`;
const code = (side: Side | null) => (side === 'from' ? 1 : side === 'to' ? 2 : 0);

const STATEMENT = `INSERT INTO stamped
  SELECT chain, txid, tick, from_usd, to_usd, CASE decides WHEN 1 THEN from_usd WHEN 2 THEN to_usd END, rule, apart FROM (
    SELECT *, CASE WHEN status = 'refunded' OR side = 0 THEN 0
        WHEN preferred = 1 AND from_usd IS NOT NULL THEN 1 WHEN preferred = 2 AND to_usd IS NOT NULL THEN 2
        WHEN from_usd IS NOT NULL THEN 1 WHEN to_usd IS NOT NULL THEN 2 ELSE 0 END AS decides FROM (
      SELECT *, CASE WHEN apart THEN coalesce(truth, side) ELSE side END AS preferred FROM (
        SELECT *, coalesce(10 * abs(from_usd - to_usd) > greatest(from_usd, to_usd), false) AS apart,
          ${cases(RULES.map(({ when, side }) => [conditionSql(when), code(side)]))} AS side,
          ${cases(RULES.map(({ when, rule }) => [conditionSql(when), rule]))} AS rule,
          ${cases(TRUTH.map(({ when, side }) => [conditionSql(when), code(side)]))} AS truth FROM (
          SELECT made.*, amount_in * from_price.usd_per_satoshi AS from_usd,
            nullif(amount_out, 0) * to_price.usd_per_satoshi AS to_usd, ${[...sideOf('from'), ...sideOf('to')].join(', ')}
          FROM made
          LEFT JOIN price AS from_price ON from_price.tick = made.tick AND from_price.currency_id = from_currency_id
          LEFT JOIN price AS to_price ON to_price.tick = made.tick AND to_price.currency_id = to_currency_id
        ) AS joined) AS ruled) AS preferring) AS decided`;
