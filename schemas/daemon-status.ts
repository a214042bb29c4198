/** How one daemon of a chain stands. Kept in Postgres (stage_status, a list for each chain under the name `daemons`). */
export const DAEMONS = 'daemons';

/**
 * The daemon's ZMQ publisher: not connected, connected without a word yet, heard, or silent: connected, yet it has said nothing of blocks
 * that came, or nothing at all for two block times.
 */
const PUBLISHER_STATES = ['unreachable', 'unheard', 'heard', 'silent'] as const;
export type PublisherState = (typeof PUBLISHER_STATES)[number];

export interface PublisherStatus {
  readonly state: PublisherState;
  /** When it named a block last; null before that. */
  readonly heardAt: string | null;
}

export interface DaemonStatus {
  /** Newest block as of its last answer; null before that. */
  readonly height: number | null;
  /** Newest block that its peers tell of; null while it knows none. */
  readonly peersHeight: number | null;
  /** Null while it is well. `code` is of docs/errors.md; `message` names addresses and is for the operator alone. */
  readonly fault: { readonly code: string; readonly message: string } | null;
  /** Absent where none is configured. */
  readonly publisher?: PublisherStatus;
}

/** Whether the chain can be followed: one healthy daemon is enough. Unwatched daemons have no status. */
export function isAnyHealthy(daemons: readonly DaemonStatus[]): boolean {
  return daemons.length === 0 || daemons.some(({ fault }) => fault === null);
}
