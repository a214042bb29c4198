/** How one daemon of a chain stands. Kept in Postgres (stage_status, a list for each chain under the name `daemons`). */
export const DAEMONS = 'daemons';

export interface DaemonStatus {
  /** Newest block as of its last answer; null before that. */
  readonly height: number | null;
  /** Newest block that its peers tell of; null while it knows none. */
  readonly peersHeight: number | null;
  /** Null while it is well. `code` is of docs/errors.md; `message` names addresses and is for the operator alone. */
  readonly fault: { readonly code: string; readonly message: string } | null;
}

/** Whether the chain can be followed: one healthy daemon is enough. Unwatched daemons have no status. */
export function isAnyHealthy(daemons: readonly DaemonStatus[]): boolean {
  return daemons.length === 0 || daemons.some(({ fault }) => fault === null);
}
