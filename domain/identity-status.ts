/** The status of an identity at a height, from its flags and timelock, as functions and as SQL. */
import { IDENTITY_FLAGS } from './flags.ts';

export const IDENTITY_STATUSES = ['unlocked', 'locked', 'unlocking', 'revoked'] as const;
export type IdentityStatus = (typeof IDENTITY_STATUSES)[number];

const { LOCKED, REVOKED } = IDENTITY_FLAGS;

export function isRevoked(flags: number): boolean {
  return (flags & REVOKED) !== 0;
}

/** Needs the height: `timelock` stays set after an unlock, so the field alone does not determine the status. */
export function identityStatus(flags: number, timelock: bigint, height: number): IdentityStatus {
  if (isRevoked(flags)) return 'revoked';
  if (flags & LOCKED) return 'locked';
  return timelock > 0n && timelock >= BigInt(height) ? 'unlocking' : 'unlocked';
}

/** SQL conditions on a column `flags`. They begin with the column's name, so that a table alias can be put in front. */
export const IS_REVOKED_SQL = `flags & ${REVOKED} <> 0`;
export const IS_NOT_REVOKED_SQL = `flags & ${REVOKED} = 0`;
export const IS_LOCKED_SQL = `flags & ${REVOKED | LOCKED} = ${LOCKED}`;

/** identityStatus as SQL conditions on `flags` and `timelock`, worded as in the indexes; `height` is an SQL expression. */
export function identityStatusSql(height: string): Readonly<Record<IdentityStatus, string>> {
  const isFree = `flags & ${REVOKED | LOCKED} = 0`;
  return {
    revoked: IS_REVOKED_SQL,
    locked: IS_LOCKED_SQL,
    unlocking: `${isFree} AND timelock > 0 AND timelock >= ${height}`,
    unlocked: `${isFree} AND NOT (timelock > 0 AND timelock >= ${height})`,
  };
}
