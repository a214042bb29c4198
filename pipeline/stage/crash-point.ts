/** Moments between two writes of a batch at which a test can make it fail. */
export const CRASH_POINTS = ['begin', 'clickhouse_table', 'clickhouse', 'facts', 'postgres', 'commit'] as const;

/** A batch passes each right after the write of that name; `begin` comes before all writes, `commit` after them. */
export type CrashPoint = (typeof CRASH_POINTS)[number];
