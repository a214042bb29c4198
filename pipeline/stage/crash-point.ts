/** Moments between two writes of a batch, at which a test lets it fail. */
export const CRASH_POINTS = ['begin', 'clickhouse_table', 'clickhouse', 'facts', 'postgres', 'commit'] as const;

/** Each is passed right after what it is named after; `begin` before anything is written, `commit` after everything. */
export type CrashPoint = (typeof CRASH_POINTS)[number];
