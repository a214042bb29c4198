/** Names of the stages as Postgres stores them, in locks, positions and statuses: a name never changes. */

/** Stages that report a status, in the order in which a block passes them. */
export const REPORTING_STAGES = ['tail', 'derive', 'price'] as const;
export type ReportingStage = (typeof REPORTING_STAGES)[number];

/**
 * Stages, and positions that the price stage keeps: `price_ahead` is the end of the provisionally priced blocks, `told` the end of the
 * records of topic `stamps` that count, `told_complete` the end of the records that belong to complete ticks.
 */
export type Stage = ReportingStage | 'audit' | 'price_guard' | 'reprocess' | 'price_ahead' | 'told' | 'told_complete';

/** Stages that one process at a time owns, by a lock. */
export type OwnedStage = ReportingStage | 'audit' | 'price_guard' | 'reprocess';

/** Stages with a row for each chain in `stage_positions`. */
export type PositionedStage = Exclude<Stage, 'tail' | 'audit' | 'reprocess'>;

/** Used instead of the name of a chain by stages that work on all chains together. */
export const ALL_CHAINS = '*';
