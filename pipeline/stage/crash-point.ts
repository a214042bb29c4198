/** Moments between two writes of a batch at which a test can make the batch fail. */
export const CRASH_POINTS = ['begin', 'clickhouse_table', 'clickhouse', 'facts', 'postgres', 'commit'] as const;

/** A batch passes each point right after the write of that name; `begin` is before all writes, `commit` after the commit. */
export type CrashPoint = (typeof CRASH_POINTS)[number];
