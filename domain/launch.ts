/** How far the launch of a currency is, by the flags of its state: for the program and for SQL. */
import { STATE_FLAGS } from './flags.ts';

export const LAUNCH_STATUSES = ['prelaunch', 'launched', 'refunding'] as const;
export type LaunchStatus = (typeof LAUNCH_STATUSES)[number];

const { PRELAUNCH, REFUNDING, LAUNCH_CONFIRMED } = STATE_FLAGS;
const DECIDED = PRELAUNCH | REFUNDING | LAUNCH_CONFIRMED;

/** A currency without a state here, since it came from another system, was launched there. */
export function launchStatus(flags: number | null): LaunchStatus {
  if (flags === null) return 'launched';
  if (flags & REFUNDING) return 'refunding';
  return (flags & DECIDED) === PRELAUNCH ? 'prelaunch' : 'launched';
}

/** Condition on a column `flags`, which it begins with: the state is from before the launch was decided. */
export const IS_PRELAUNCH_SQL = `flags & ${DECIDED} = ${PRELAUNCH}`;

/** The same as launchStatus of `flags`, an expression. */
export function launchStatusSql(flags: string): string {
  return `CASE WHEN ${flags} & ${REFUNDING} <> 0 THEN 'refunding'
    WHEN ${flags} & ${DECIDED} = ${PRELAUNCH} THEN 'prelaunch' ELSE 'launched' END`;
}
