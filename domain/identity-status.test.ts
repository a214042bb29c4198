import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  IDENTITY_STATUSES,
  IS_LOCKED_SQL,
  IS_NOT_REVOKED_SQL,
  IS_REVOKED_SQL,
  identityStatus,
  identityStatusSql,
  isRevoked,
} from './identity-status.ts';

const FLAGS_PART = /^flags & (\d+) (=|<>) (\d+)$/;
const TIME_PART = /^(NOT \()?timelock > 0 AND timelock >= \$2\)?$/;

/** Evaluates a condition as Postgres does. */
function holds(sql: string, flags: number, timelock: bigint, height: number): boolean {
  const [first = '', time] = sql.split(/ AND (.*)/);
  const [, mask, sign, value] = FLAGS_PART.exec(first) ?? [];
  if (mask === undefined) throw new Error(`not a condition on flags: ${sql}`);
  if (((flags & Number(mask)) === Number(value)) !== (sign === '=')) return false;
  if (time === undefined) return true;
  const [match, isNegated] = TIME_PART.exec(time) ?? [];
  if (match === undefined) throw new Error(`not a condition on timelock: ${sql}`);
  return (timelock > 0n && timelock >= BigInt(height)) !== (isNegated !== undefined);
}

it.each([
  [0x8000 | 0x2, 9n, 5, 'revoked'],
  [0x8000, 0n, 5, 'revoked'],
  [0x2, 9n, 5, 'locked'],
  [0x1, 9n, 5, 'unlocking'],
  [0x1, 5n, 5, 'unlocking'],
  [0x1, 4n, 5, 'unlocked'],
  [0x4, 0n, 0, 'unlocked'],
] as const)('flags %i, timelock %i, height %i: %s', (flags, timelock, height, status) => {
  expect(identityStatus(flags, timelock, height)).toBe(status);
});

it('SQL and identityStatus agree: exactly the condition of the status is true', () => {
  const bits = fc.subarray([0x1, 0x2, 0x4, 0x8, 0x8000]).map((set) => set.reduce((flags, bit) => flags | bit, 0));
  fc.assert(
    fc.property(bits, fc.bigInt(0n, 6n), fc.nat(6), (flags, timelock, height) => {
      const conditions = identityStatusSql('$2');
      const held = IDENTITY_STATUSES.filter((status) => holds(conditions[status], flags, timelock, height));
      expect(held).toEqual([identityStatus(flags, timelock, height)]);
      expect(holds(IS_REVOKED_SQL, flags, timelock, height)).toBe(isRevoked(flags));
      expect(holds(IS_NOT_REVOKED_SQL, flags, timelock, height)).toBe(!isRevoked(flags));
      expect(holds(IS_LOCKED_SQL, flags, timelock, height)).toBe(held[0] === 'locked');
    }),
  );
});
