/** The launch status of a currency, from the flags of its state, as a function and as SQL. */
import { STATE_FLAGS } from './flags.ts';

export const LAUNCH_STATUSES = ['prelaunch', 'launched', 'refunding'] as const;
export type LaunchStatus = (typeof LAUNCH_STATUSES)[number];

const { PRELAUNCH, REFUNDING, LAUNCH_CONFIRMED } = STATE_FLAGS;
const DECIDED = PRELAUNCH | REFUNDING | LAUNCH_CONFIRMED;

/** A currency without a state on this chain came from another system and was launched there. */
export function launchStatus(flags: number | null): LaunchStatus {
  if (flags === null) return 'launched';
  if (flags & REFUNDING) return 'refunding';
  return (flags & DECIDED) === PRELAUNCH ? 'prelaunch' : 'launched';
}

/** SQL condition on a column `flags`, with whose name it begins: the launch is not decided yet. */
export const IS_PRELAUNCH_SQL = `flags & ${DECIDED} = ${PRELAUNCH}`;

/** launchStatus in SQL; `flags` is an SQL expression. */
export function launchStatusSql(flags: string): string {
  return `CASE WHEN ${flags} & ${REFUNDING} <> 0 THEN 'refunding'
    WHEN ${flags} & ${DECIDED} = ${PRELAUNCH} THEN 'prelaunch' ELSE 'launched' END`;
}
