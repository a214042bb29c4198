/** Sums of whole days in ClickHouse: built once nothing should change them, and reopened in Postgres when something does. */
import type { Pool, PoolClient } from 'pg';
import { SECONDS_PER_DAY, utcDay } from '../../domain/time.ts';
import { IS_TRADE_SQL } from '../../domain/transfers.ts';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { BOUNDS_DAYS, boundsCloseAt } from '../../processors/pricing/backfill-bounds.ts';
import { deleteWhere } from './clickhouse-prices.ts';
import type { FoldedRows } from './price-batch.ts';
import type { ChainCursor } from './price-chain.ts';

const readClock = rowReader({ clock: columns.nullable(columns.bigint) });
const readDay = rowReader({ generation: columns.number, day: columns.number });

/** The earliest, over all chains, of the clocks of their newest final blocks; −1 while a chain has no final block. */
export async function finalClock(client: Pool, cursors: readonly ChainCursor[]): Promise<number> {
  const row = await readRow(
    client,
    readClock,
    `SELECT min(coalesce(price_ticks.clock, -1)) AS clock FROM unnest($1::text[], $2::integer[]) AS final(chain, height)
     LEFT JOIN price_ticks USING (chain, height)`,
    [
      cursors.map(({ chain }) => chain.name),
      cursors.map(({ chain, ticked }) => (ticked?.height ?? -1) - chain.finalityDepth),
    ],
  );
  return Number(row?.clock ?? -1n);
}

/** Newest day whose rows can no longer change; below 0 when there is none. */
export function finalDay(clock: number, backfillEnds: number): number {
  const isBackfillClosed = clock >= boundsCloseAt(utcDay(backfillEnds - 1));
  return utcDay(clock) - 1 - (isBackfillClosed ? 0 : BOUNDS_DAYS);
}

/** By generation: the last day whose rollups count. */
export async function rolledDays(client: Pool): Promise<ReadonlyMap<number, number>> {
  const rows = await readRows(
    client,
    readDay,
    'SELECT generation, max(day) AS day FROM rolled_days GROUP BY generation',
  );
  return new Map(rows.map(({ generation, day }) => [generation, day]));
}

export interface DaySpan {
  readonly generation: number;
  /** The last day that counts already; −1 when none does. */
  readonly after: number;
  readonly through: number;
}

/** Builds the days of the span, which count with the commit; `tick` is the newest committed one. */
export async function rollUp(client: PoolClient, clickhouse: ClickHouse, span: DaySpan, tick: number): Promise<void> {
  const { generation, after, through } = span;
  const params = { generation, after, from: (after + 1) * SECONDS_PER_DAY, until: (through + 1) * SECONDS_PER_DAY };
  const isBeyond = 'generation = {generation:UInt32} AND toInt32(day) > {after:Int32}';
  await deleteWhere(clickhouse, 'daily_trades', isBeyond, params);
  await clickhouse.command(
    `INSERT INTO daily_trades
     SELECT generation, toDate(time) AS day, chain, basket_id, from_currency_id, to_currency_id,
       sum(ifNull(usd_value, toDecimal256(0, 38))), count(), sum(toInt128(amount_in)), sum(toInt128(ifNull(amount_out, 0)))
     FROM conversions WHERE generation = {generation:UInt32} AND ${IS_TRADE_SQL}
       AND time >= fromUnixTimestamp({from:Int64}) AND time < fromUnixTimestamp({until:Int64})
     GROUP BY generation, day, chain, basket_id, from_currency_id, to_currency_id`,
    params,
  );
  await client.query('INSERT INTO rolled_days VALUES ($1, $2, $3)', [generation, through, tick]);
}

/** Reopens days whose rows change: block times may step far back. */
export async function reopenDays(client: PoolClient, { generation, stamps, corrections }: FoldedRows): Promise<void> {
  let first = Number.POSITIVE_INFINITY;
  for (const rows of [stamps, corrections]) for (const { time } of rows) first = Math.min(first, time);
  if (first === Number.POSITIVE_INFINITY) return;
  await client.query('DELETE FROM rolled_days WHERE generation = $1 AND day >= $2', [generation, utcDay(first)]);
}
