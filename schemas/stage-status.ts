/** Status of one stage of one chain, shown by `status`, /metrics and /api/health/ready. Kept in Postgres (stage_status). */
export const STAGE_STATES = [
  'starting',
  'catching_up', // behind its input, moving
  'following', // at the end of its input
  'waiting', // for something outside (daemon, broker, store); retries with backoff
  'ended', // the bundled recording is played to its end
  'stopped', // needs an operator: `error` says what to do
] as const;
export type StageState = (typeof STAGE_STATES)[number];

export interface StageStatus {
  readonly state: StageState;
  /** Newest height of the stage; null before its first block. */
  readonly height: number | null;
  /** Height that it is moving towards; null while unknown. */
  readonly targetHeight: number | null;
  /** Blocks a second over the last half minute. */
  readonly rate: number;
  readonly etaSeconds: number | null;
  /** Arrival (not block time) of the newest block, ISO 8601. */
  readonly movedAt: string | null;
  /** `tail` only, from a start to its first block: time of the newest block, the earliest at which it can have arrived. ISO 8601. */
  readonly tipTime?: string;
  /** `price` only: the chain whose clock the blocks after `height` wait for. Absent if they wait for none. */
  readonly waitsFor?: string;
  /** `price` only, with `waitsFor`: number of blocks after `height` that are priced provisionally. */
  readonly aheadBlocks?: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}
