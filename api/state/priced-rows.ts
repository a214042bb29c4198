/**
 * Selects the rows of the stage `price` in ClickHouse that belong to a snapshot: rows up to the newest tick in Postgres, because ClickHouse may be
 * a batch ahead, and beyond the line the rows of the runs that Postgres names.
 */

import { tickAt } from '../../infra/postgres/last-by-clock.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { columns, jsonReader, rowReader } from '../../infra/row-reader.ts';
import { type AheadRun, aheadRowsSql } from '../../schemas/ahead-runs.ts';
import type { ApiContext } from '../api-context.ts';
import { HeadedValue } from '../http/route.ts';
import { LAST_MOMENT } from '../http/time-parameter.ts';
import { isoTime } from '../http/values.ts';
import type { Snapshot } from './snapshot.ts';

export interface PricedRows {
  /** Parameters for every statement that selects from these rows. */
  readonly params: { readonly generation: number; readonly tick: string; readonly leftOut?: readonly string[] };
  /** Condition on `chain` that excludes conversions of chains that are no longer configured. */
  readonly isConfigured: string;
  /** Returns a subquery for FROM: columns of the rows that match a condition. `beyond`: a different condition for rows beyond the line. */
  of(table: PricedTable, columns: string, condition: string, beyond?: string): string;
  /** The same for `prices`, greatest ticks first, at most `limit` rows (SQL); the columns must include `tick`. */
  newest(columns: string, condition: string, limit: string): string;
  /** Returns the last tick whose clock is at or before `moment` (seconds since the epoch); null when all are later. */
  tickAt(moment: number): Promise<string | null>;
  /**
   * Returns the places of blocks among these rows, by height; unknown blocks are missing. A block above `pricedHeight` may have the place of a
   * removed block.
   */
  placesOf(chain: string, heights: readonly number[]): Promise<ReadonlyMap<number, PlaceInTicks>>;
  /** Returns the time of the first block beyond the line with rows here, of one chain or of any; null when there is none up to `end`. */
  provisionalSince(end: number, chain?: string): number | null;
}

export interface PlaceInTicks {
  /** The last tick up to the block, whose own tick may not exist yet; -1 before the first. */
  readonly tick: number;
  /**
   * The last tick of the default chain up to `tick`: every valid price has a row at this tick, or later if another chain has changed it since.
   * Null before the first.
   */
  readonly step: number | null;
}

export type PricedTable = 'prices' | 'conversions';

/** Members of an answer that indicate provisional rows. */
export function provisionalMembers(since: number | null) {
  return { provisional: since !== null, provisionalSince: since === null ? null : isoTime(since) };
}

/** The header with the same meaning for answers that are lists, which have no members. */
export const PROVISIONAL_SINCE = 'Provisional-Since';

export function provisionalList<T>(since: number | null, list: T, more: Readonly<Record<string, string>> = {}) {
  return new HeadedValue(list, { ...(since !== null && { [PROVISIONAL_SINCE]: isoTime(since) }), ...more });
}

/** `firsts`: the first block of each chain beyond the line; while derive has reverted that block, the last one before it. */
const ROWS_SQL = `SELECT (SELECT max(tick) FROM price_ticks) AS tick,
    (SELECT json_agg(json_build_array(run::text, from_tick::text, through_tick::text, corrects)) FROM ahead_runs
      WHERE counts)::text AS runs,
    (SELECT json_agg(json_build_array(ahead.chain, coalesce(block.time, price.clock, 0), coalesce(block.clock, price.clock, 0)))
      FROM ${positionsOf('price_ahead')} ahead
      LEFT JOIN ${positionsOf('price')} price ON price.chain = ahead.chain
      LEFT JOIN LATERAL (SELECT time, clock FROM blocks WHERE chain = ahead.chain AND height > coalesce(price.height, -1)
        ORDER BY height LIMIT 1) AS block ON true)::text AS firsts`;

/** `tick` is 0 when there is no row. */
const readNewest = rowReader({ tick: columns.text });

const readRows = rowReader({
  tick: columns.nullable(columns.bigint),
  /** JSON texts; null for none. */
  runs: columns.nullable(columns.text),
  firsts: columns.nullable(columns.text),
});

/** [chain, time, clock] of each first block. */
const readFirsts = jsonReader(columns.list(columns.tuple(columns.text, columns.number, columns.number)));
/** [run, first tick, last tick, whether it corrects] of each run. */
const readRuns = jsonReader(columns.list(columns.tuple(columns.text, columns.text, columns.text, columns.boolean)));

const COMPLETE = 'generation = {generation: UInt32} AND tick <= {tick: UInt64}';

/** Includes provisional rows unless `withBeyond` is false. */
export async function pricedRows(read: Snapshot, api: ApiContext, withBeyond = true): Promise<PricedRows> {
  const record = await read.row(readRows, ROWS_SQL);
  const { generation, leftOut } = read.state;
  const params = { generation, tick: String(record?.tick ?? 0n), ...(leftOut.length > 0 && { leftOut }) };
  const isConfigured = leftOut.length > 0 ? 'NOT has({leftOut: Array(String)}, toString(chain))' : 'true';
  const runs = withBeyond ? parseRuns(record?.runs ?? '[]') : [];
  const firsts = withBeyond ? readFirsts(record?.firsts ?? '[]') : [];
  const beyondLine = (table: PricedTable) => aheadRowsSql(`${table}_ahead`, runs, 'generation = {generation: UInt32}');

  return {
    params,
    isConfigured,
    of(table, columns, condition, beyond = condition) {
      const shown = table === 'conversions' ? `(${condition}) AND ${isConfigured}` : condition;
      const complete = `SELECT ${columns} FROM ${table} WHERE ${COMPLETE} AND (${shown})`;
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
        const [row] = await api.clickhouse.rows(readNewest, sql, { ...params, moment: Math.min(moment, LAST_MOMENT) });
        if (row && row.tick !== '0') return row.tick;
      }
      return completeTickAt(read, moment);
    },
    async placesOf(chain, heights) {
      const chains = api.config.chains.map(({ name }) => name);
      const found = await read.rows(readPlace, PLACES_SQL, [chain, heights, chains[0]]);
      const places = new Map(
        found.map(({ height, tick, step }) => [
          height,
          { tick: Number(tick), step: step === null ? null : Number(step) },
        ]),
      );
      const later = found.filter(({ is_complete }) => !is_complete);
      if (runs.length === 0 || later.length === 0) return places;
      const asked = { chains, place: chains.indexOf(chain) + 1, heights: later.map(({ height }) => height) };
      const clocks = later.map(({ clock }) => Number(clock));
      const sql = beyondPlacesSql(beyondLine('prices'));
      const beyond = await api.clickhouse.rows(readBeyond, sql, { ...params, ...asked, clocks });
      for (const { height, last_tick: tick, last_step: step } of beyond) {
        const before = places.get(height)?.step ?? null;
        places.set(height, { tick: Number(tick), step: step === '0' ? before : Number(step) });
      }
      return places;
    },
    provisionalSince(end, chain) {
      const since = firsts.filter(([of, , clock]) => (chain === undefined || of === chain) && clock <= end);
      return since.length === 0 ? null : Math.min(...since.map(([, time]) => time));
    },
  };
}

/** Blocks $2 of the chain $1; $3 is the default chain. A block without a tick is placed after all blocks that have one. */
const PLACES_SQL = `SELECT block.height, block.clock, own.tick IS NOT NULL AS is_complete, upto.tick, step.tick AS step
  FROM unnest($2::integer[]) AS asked(height)
  JOIN blocks block ON block.chain = $1 AND block.height = asked.height
  LEFT JOIN LATERAL (SELECT max(tick) AS tick FROM price_ticks WHERE chain = $1 AND height = asked.height) AS own ON true
  CROSS JOIN LATERAL (SELECT coalesce(own.tick, (SELECT max(tick) FROM price_ticks), -1) AS tick) AS upto
  LEFT JOIN LATERAL (SELECT tick FROM price_ticks WHERE chain = $3 AND tick <= upto.tick ORDER BY tick DESC LIMIT 1) AS step
    ON true`;
const readPlace = rowReader({
  height: columns.number,
  clock: columns.bigint,
  is_complete: columns.boolean,
  tick: columns.bigint,
  step: columns.nullable(columns.bigint),
});

/** Ticks order blocks by clock, then by the order of the chains, then by height; 0 means none. */
const beyondPlacesSql = (rows: string) => `SELECT asked.2 AS height,
    max(tick) AS last_tick, maxIf(tick, chain = {chains: Array(String)}[1]) AS last_step
  FROM (SELECT DISTINCT tick, chain, height AS of, toUnixTimestamp(clock) AS second FROM ${rows}) AS beyond
  CROSS JOIN (SELECT arrayJoin(arrayZip({clocks: Array(UInt32)}, {heights: Array(UInt32)})) AS asked) AS wanted
  WHERE (second, indexOf({chains: Array(String)}, toString(chain)), of) <= (asked.1, {place: UInt32}, asked.2)
  GROUP BY height`;
const readBeyond = rowReader({ height: columns.number, last_tick: columns.text, last_step: columns.text });

function parseRuns(text: string): AheadRun[] {
  return readRuns(text).map(([run, from, through, corrects]) => {
    return { run: BigInt(run), fromTick: BigInt(from), throughTick: BigInt(through), corrects };
  });
}

const AT_SQL = `SELECT ${tickAt('$1')} AS tick`;
const readTick = rowReader({ tick: columns.nullable(columns.bigint) });

async function completeTickAt(read: Snapshot, moment: number): Promise<string | null> {
  const row = await read.row(readTick, AT_SQL, [moment]);
  return row?.tick == null ? null : String(row.tick);
}
