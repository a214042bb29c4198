import { describe, expect, test } from 'vitest';
import { type IdentityState, identityChangeKind } from './identity-change-kind.ts';

const FREE: IdentityState = {
  flags: 0,
  timelock: 0,
  revocationAuthority: 'iA',
  recoveryAuthority: 'iA',
  primaryAddresses: ['RX'],
  minimumSignatures: 1,
};
const kind = (before: Partial<IdentityState>, after: Partial<IdentityState>, ...changed: string[]) =>
  identityChangeKind({ ...FREE, ...before }, { ...FREE, ...after }, new Set(changed));

test('an update without a state before it is registered, whatever else it changes', () => {
  expect(identityChangeKind(null, { ...FREE, flags: 0x8002 }, new Set())).toBe('registered');
});

describe('flags and time lock', () => {
  test.each([
    ['revoking ends a lock', { flags: 2, timelock: 20 }, { flags: 0x8000 }, 'revoked'],
    ['recovering into a lock', { flags: 0x8000 }, { flags: 2, timelock: 20 }, 'recovered'],
    ['a lock with a delay', {}, { flags: 2, timelock: 20 }, 'locked'],
    ['a lock over a dated one', { timelock: 400 }, { flags: 2, timelock: 20 }, 'locked'],
    ['a lock up to a height', {}, { timelock: 400 }, 'locked'],
    ['a dated lock that is lengthened', { timelock: 323 }, { timelock: 400 }, 'locked'],
    ['an unlock starts the countdown', { flags: 2, timelock: 20 }, { timelock: 323 }, 'unlock_requested'],
    ['an unlock without a countdown', { flags: 2, timelock: 20 }, {}, 'unlocked'],
    ['a passed countdown that is cleared', { timelock: 323 }, {}, 'other'],
    ['a longer delay of a lock that stays', { flags: 2, timelock: 20 }, { flags: 2, timelock: 30 }, 'other'],
    ['a currency is defined', {}, { flags: 1 }, 'currency_defined'],
    ['a locked identity that has a currency', { flags: 1 }, { flags: 3, timelock: 20 }, 'locked'],
  ])('%s', (_, before, after, want) => {
    expect(kind(before, after, 'flags', 'timelock')).toBe(want);
  });
});

describe('fields: the first kind of the list applies', () => {
  test.each([
    [['primaryaddresses', 'recoveryauthority', 'contentmap'], 'authority_changed'],
    [['contentmultimap', 'revocationauthority'], 'authority_changed'],
    [['contentmultimap', 'minimumsignatures'], 'keys_changed'],
    [['primaryaddresses'], 'keys_changed'],
    [['contentmap'], 'content_updated'],
    [['contentmultimap', 'privateaddress'], 'content_updated'],
    [['privateaddress'], 'other'],
    [[], 'other'],
  ])('%j: %s', (changed, want) => {
    expect(kind({}, {}, ...changed)).toBe(want);
  });

  test('a lock takes precedence over changed fields, a currency definition does not', () => {
    expect(kind({}, { flags: 2, timelock: 9 }, 'flags', 'timelock', 'primaryaddresses')).toBe('locked');
    expect(kind({}, { flags: 1 }, 'flags', 'primaryaddresses')).toBe('keys_changed');
  });
});
