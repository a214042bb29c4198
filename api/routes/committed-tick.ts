/** ClickHouse may be a batch ahead of what is committed; rows of `price` up to this tick are not. */
import type { Snapshot } from '../state/snapshot.ts';

export async function committedTick(read: Snapshot): Promise<string> {
  const row = await read.row<{ tick: bigint | null }>('SELECT max(tick) AS tick FROM price_ticks');
  return String(row?.tick ?? 0n);
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

/** Null when all are later. `moment`: seconds since the epoch. */
export async function tickAt(read: Snapshot, moment: number): Promise<string | null> {
  const row = await read.row<{ tick: bigint | null }>(AT_SQL, [moment]);
  return row?.tick == null ? null : String(row.tick);
}
