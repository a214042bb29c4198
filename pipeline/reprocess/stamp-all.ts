/** Stamps all conversions, stretch by stretch, and computes the inputs of the statement other than the rows that it reads. */

import { NO_DELIVERY } from '../../domain/stamps.ts';
import { utcDay } from '../../domain/time.ts';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { deleteWhere } from '../price/clickhouse-prices.ts';
import type { PriceChain } from '../price/price-chain.ts';
import { IS_SETTLED, restampSql } from './stamping-sql.ts';
import { stretches } from './stretches.ts';

export interface StampAll {
  readonly generation: number;
  /** Generation whose conversions are stamped again. */
  readonly base: number;
  /** Newest tick to stamp. */
  readonly high: number;
  readonly hasBackfill: boolean;
  readonly days: ReadonlyMap<string, number>;
}

const readClock = rowReader({ clock: columns.bigint });
const readCount = rowReader({ count: columns.text });

export async function hasBackfill(clickhouse: ClickHouse, generation: number): Promise<boolean> {
  const found = await clickhouse.query(
    `SELECT 1 FROM stamp_prices WHERE generation = {generation:UInt32} AND regime = 'backfill' LIMIT 1`,
    { generation },
  );
  return found.length > 0;
}

/** UTC day that the clock of each chain has reached at a tick. */
export async function clockDays(
  postgres: Postgres,
  chains: readonly PriceChain[],
  tick: number,
): Promise<ReadonlyMap<string, number>> {
  const days = new Map<string, number>();
  for (const { name } of chains) {
    const sql = 'SELECT clock FROM price_ticks WHERE chain = $1 AND tick <= $2 ORDER BY tick DESC LIMIT 1';
    const row = await readRow(postgres.pool, readClock, sql, [name, tick]);
    if (row) days.set(name, utcDay(Number(row.clock)));
  }
  return days;
}

/** Conversions per statement, whose joins stay in memory. The overhead of a statement equals some ten thousand conversions. */
const MOST_AT_ONCE = 250_000;
const LEAST_AT_ONCE = 100;

/** Replaces stamps of an earlier try, but not the stamps that the fold of the prices has made. */
export async function stampAll(clickhouse: ClickHouse, of: StampAll, mostAtOnce = MOST_AT_ONCE): Promise<void> {
  const { generation, base, high, days } = of;
  await deleteWhere(clickhouse, 'conversions', `generation = {generation:UInt32} AND ${IS_SETTLED}`, { generation });
  const most = Math.max(mostAtOnce, LEAST_AT_ONCE);
  const sql = restampSql({ hasBackfill: of.hasBackfill });
  for (const ticks of await stretches(clickhouse, { generation: base, low: 0, high, most })) {
    await clickhouse.command(sql, {
      ...ticks,
      base,
      generation,
      chains: [...days.keys()],
      days: [...days.values()],
    });
  }
}

/**
 * Whether every settled conversion that has a stamp in Postgres was read: the fold replaces rows of ClickHouse, and a row that was absent
 * for a moment would otherwise be missing for ever.
 */
export async function isWhole(postgres: Postgres, clickhouse: ClickHouse, of: StampAll): Promise<boolean> {
  const held = await readRow(
    postgres.pool,
    readCount,
    `SELECT count(*)::text AS count FROM stamps WHERE generation = $1 AND tick <= $2 AND reason IS DISTINCT FROM '${NO_DELIVERY}'`,
    [of.base, of.high],
  );
  const [stamped] = await clickhouse.rows(
    readCount,
    `SELECT count() AS count FROM conversions WHERE generation = {generation:UInt32} AND ${IS_SETTLED}`,
    { generation: of.generation },
  );
  return held !== undefined && (stamped?.count ?? '0') === held.count;
}
