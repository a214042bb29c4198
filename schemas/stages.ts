/** Names of the stages as Postgres stores them, in locks, positions and statuses: a name never changes. */

/** Stages that report a status, in the order in which a block passes them. */
export const REPORTING_STAGES = ['tail', 'derive', 'price'] as const;
export type ReportingStage = (typeof REPORTING_STAGES)[number];

/**
 * Besides stages, positions that the price stage keeps: `price_ahead` up to where blocks are priced provisionally, `told` up to where
 * records of topic stamps count, `told_complete` up to where they are of complete ticks.
 */
export type Stage = ReportingStage | 'audit' | 'price_guard' | 'reprocess' | 'price_ahead' | 'told' | 'told_complete';

/** What one process at a time owns, by a lock. */
export type OwnedStage = ReportingStage | 'audit' | 'price_guard' | 'reprocess';

/** What has a row for each chain in `stage_positions`. */
export type PositionedStage = Exclude<Stage, 'tail' | 'audit' | 'reprocess'>;

/** Stands where other stages name their chain: this one works on all of them together. */
export const ALL_CHAINS = '*';
