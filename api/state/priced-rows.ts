/**
 * The rows of `price` in ClickHouse that count in a snapshot: up to the newest tick of Postgres, where ClickHouse may be a batch ahead, and
 * beyond the line those of the runs that Postgres names.
 */

import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { type AheadRun, aheadRowsSql } from '../../schemas/ahead-runs.ts';
import type { ApiContext } from '../api-context.ts';
import { HeadedValue } from '../http/route.ts';
import { isoTime } from '../http/values.ts';
import type { Snapshot } from './snapshot.ts';

export interface PricedRows {
  /** Values of every statement that selects from these rows. */
  readonly params: { readonly generation: number; readonly tick: string };
  /**
   * What stands after FROM: columns of the rows that fit a condition. `beyond`: the condition on rows beyond the line, where it is another.
   */
  of(table: PricedTable, columns: string, condition: string, beyond?: string): string;
  /** The same of `prices`, those of the greatest ticks first, at most `limit` of them (SQL); `tick` has to be among the columns. */
  newest(columns: string, condition: string, limit: string): string;
  /** The last tick up to a moment in seconds since the epoch, as clocks count; null when all are later. */
  tickAt(moment: number): Promise<string | null>;
  /** The tick of a block beyond the line; null of one that has none there. */
  tickBeyond(chain: string, height: number): Promise<string | null>;
  /**
   * Time of the first block beyond the line, of one chain or of any, with rows that are taken from here; null when there is none up to the
   * moment `end`.
   */
  provisionalSince(end: number, chain?: string): number | null;
}

export type PricedTable = 'prices' | 'conversions';

/** As answers say it: members of an object. */
export function provisionalMembers(since: number | null) {
  return { provisional: since !== null, provisionalSince: since === null ? null : isoTime(since) };
}

/** The header of answers that are lists, and so have no member for it. */
export const PROVISIONAL_SINCE = 'Provisional-Since';

export function provisionalList<T>(since: number | null, list: T, more: Readonly<Record<string, string>> = {}) {
  return new HeadedValue(list, { ...(since !== null && { [PROVISIONAL_SINCE]: isoTime(since) }), ...more });
}

/** The first block of each chain beyond the line; while derive has taken it back, the last one before it. */
const ROWS_SQL = `SELECT (SELECT max(tick) FROM price_ticks) AS tick,
    (SELECT json_agg(json_build_array(run::text, from_tick::text, through_tick::text, corrects)) FROM ahead_runs
      WHERE counts)::text AS runs,
    (SELECT json_agg(json_build_array(ahead.chain, coalesce(block.time, price.clock, 0), coalesce(block.clock, price.clock, 0)))
      FROM ${positionsOf('price_ahead')} ahead
      LEFT JOIN ${positionsOf('price')} price ON price.chain = ahead.chain
      LEFT JOIN LATERAL (SELECT time, clock FROM blocks WHERE chain = ahead.chain AND height > coalesce(price.height, -1)
        ORDER BY height LIMIT 1) AS block ON true)::text AS firsts`;

/** `tick` is 0 without a row. */
const readNewest = rowReader({ tick: columns.text });

const readRows = rowReader({
  tick: columns.nullable(columns.bigint),
  /** JSON texts; null for none. */
  runs: columns.nullable(columns.text),
  firsts: columns.nullable(columns.text),
});

type First = readonly [chain: string, time: number, clock: number];

const COMPLETE = 'generation = {generation: UInt32} AND tick <= {tick: UInt64}';

/** Includes provisional rows unless the caller declines them. */
export async function pricedRows(read: Snapshot, api: ApiContext, withBeyond = true): Promise<PricedRows> {
  const record = await read.row(readRows, ROWS_SQL);
  const params = { generation: read.state.generation, tick: String(record?.tick ?? 0n) };
  const runs = withBeyond ? parseRuns(record?.runs ?? '[]') : [];
  const firsts = withBeyond ? (JSON.parse(record?.firsts ?? '[]') as First[]) : [];
  const beyondLine = (table: PricedTable) => aheadRowsSql(`${table}_ahead`, runs, 'generation = {generation: UInt32}');

  return {
    params,
    of(table, columns, condition, beyond = condition) {
      const complete = `SELECT ${columns} FROM ${table} WHERE ${COMPLETE} AND (${condition})`;
      if (runs.length === 0) return `(${complete})`;
      return `(${complete} UNION ALL SELECT ${columns} FROM ${beyondLine(table)} WHERE ${beyond})`;
    },
    newest(columns, condition, limit) {
      const last = (from: string) => `(SELECT ${columns} FROM ${from} ORDER BY tick DESC LIMIT ${limit})`;
      const complete = last(`prices WHERE ${COMPLETE} AND (${condition})`);
      if (runs.length === 0) return complete;
      const beyond = last(`${beyondLine('prices')} WHERE ${condition}`);
      return `(SELECT * FROM (${complete} UNION ALL ${beyond}) ORDER BY tick DESC LIMIT ${limit})`;
    },
    async tickAt(moment) {
      if (runs.length > 0 && firsts.some(([, , clock]) => clock <= moment)) {
        const sql = `SELECT max(tick) AS tick FROM ${beyondLine('prices')} WHERE clock <= fromUnixTimestamp({moment: UInt32})`;
        const [row] = await api.clickhouse.rows(readNewest, sql, { ...params, moment });
        if (row && row.tick !== '0') return row.tick;
      }
      return completeTickAt(read, moment);
    },
    async tickBeyond(chain, height) {
      if (runs.length === 0) return null;
      const sql = `SELECT max(tick) AS tick FROM ${beyondLine('prices')} WHERE chain = {chain: String} AND height = {height: UInt32}`;
      const [row] = await api.clickhouse.rows(readNewest, sql, { ...params, chain, height });
      return row && row.tick !== '0' ? row.tick : null;
    },
    provisionalSince(end, chain) {
      const since = firsts.filter(([of, , clock]) => (chain === undefined || of === chain) && clock <= end);
      return since.length === 0 ? null : Math.min(...since.map(([, time]) => time));
    },
  };
}

function parseRuns(text: string): AheadRun[] {
  const stored = JSON.parse(text) as (readonly [run: string, from: string, through: string, corrects: boolean])[];
  return stored.map(([run, from, through, corrects]) => {
    return { run: BigInt(run), fromTick: BigInt(from), throughTick: BigInt(through), corrects };
  });
}

/** Ticks follow the clock, so the last one up to a moment is found by halving: its answer is the same however long the history. */
const AT_SQL = `WITH RECURSIVE search(low, high) AS (
    SELECT min(tick) - 1, max(tick) FROM price_ticks
    UNION ALL
    SELECT CASE WHEN probe.clock <= $1 THEN middle ELSE low END, CASE WHEN probe.clock <= $1 THEN high ELSE middle - 1 END
    FROM search
    CROSS JOIN LATERAL (SELECT (low + high + 1) / 2 AS middle) AS half
    CROSS JOIN LATERAL (SELECT clock FROM price_ticks WHERE tick <= middle ORDER BY tick DESC LIMIT 1) AS probe
    WHERE low < high
  ) SELECT (SELECT max(tick) FROM price_ticks WHERE tick <= low) AS tick FROM search WHERE low = high`;

const readTick = rowReader({ tick: columns.nullable(columns.bigint) });

async function completeTickAt(read: Snapshot, moment: number): Promise<string | null> {
  const row = await read.row(readTick, AT_SQL, [moment]);
  return row?.tick == null ? null : String(row.tick);
}
