/** What flags and timelock of an identity say of it at a height: for the program and for SQL. */
import { IDENTITY_FLAGS } from './flags.ts';

export const IDENTITY_STATUSES = ['unlocked', 'locked', 'unlocking', 'revoked'] as const;
export type IdentityStatus = (typeof IDENTITY_STATUSES)[number];

const { LOCKED, REVOKED } = IDENTITY_FLAGS;

export function isRevoked(flags: number): boolean {
  return (flags & REVOKED) !== 0;
}

/** By height: the field of a past unlock stays in the identity, so it says nothing by itself. */
export function identityStatus(flags: number, timelock: bigint, height: number): IdentityStatus {
  if (isRevoked(flags)) return 'revoked';
  if (flags & LOCKED) return 'locked';
  return timelock > 0n && timelock >= BigInt(height) ? 'unlocking' : 'unlocked';
}

/** Conditions on a column `flags`; they begin with its name, so that a table's alias can go before them. */
export const IS_REVOKED_SQL = `flags & ${REVOKED} <> 0`;
export const IS_NOT_REVOKED_SQL = `flags & ${REVOKED} = 0`;
export const IS_LOCKED_SQL = `flags & ${REVOKED | LOCKED} = ${LOCKED}`;

/** identityStatus as conditions on the columns `flags` and `timelock`, as the indexes state them; `height` is an expression. */
export function identityStatusSql(height: string): Readonly<Record<IdentityStatus, string>> {
  const isFree = `flags & ${REVOKED | LOCKED} = 0`;
  return {
    revoked: IS_REVOKED_SQL,
    locked: IS_LOCKED_SQL,
    unlocking: `${isFree} AND timelock > 0 AND timelock >= ${height}`,
    unlocked: `${isFree} AND NOT (timelock > 0 AND timelock >= ${height})`,
  };
}
