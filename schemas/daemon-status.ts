/** Status of one daemon of a chain, kept in Postgres (stage_status, a list for each chain under the name `daemons`). */
export const DAEMONS = 'daemons';

/**
 * State of the daemon's ZMQ publisher: not connected; connected, but without a message yet; heard; or silent: connected, but it did not
 * announce blocks that arrived, or sent nothing at all for two block times.
 */
const PUBLISHER_STATES = ['unreachable', 'unheard', 'heard', 'silent'] as const;
export type PublisherState = (typeof PUBLISHER_STATES)[number];

export interface PublisherStatus {
  readonly state: PublisherState;
  /** When it last announced a block; null before the first one. */
  readonly heardAt: string | null;
}

export interface DaemonStatus {
  /** Newest block in its last answer; null before the first answer. */
  readonly height: number | null;
  /** Newest block that its peers report; null while it knows none. */
  readonly peersHeight: number | null;
  /** Null while the daemon is healthy. docs/errors.md explains `code`; `message` contains addresses and is for the operator only. */
  readonly fault: { readonly code: string; readonly message: string } | null;
  /** Absent when no publisher is configured. */
  readonly publisher?: PublisherStatus;
}

/** Whether the chain can be followed: one healthy daemon is enough. Unwatched daemons have no status. */
export function isAnyHealthy(daemons: readonly DaemonStatus[]): boolean {
  return daemons.length === 0 || daemons.some(({ fault }) => fault === null);
}
