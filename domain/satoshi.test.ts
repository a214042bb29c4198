import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { expect, it, test } from 'vitest';
import { coinsToSatoshis, exactInteger, satoshisToCoins } from './satoshi.ts';

test.each([
  [1.5, 150_000_000n],
  [1e-8, 1n],
  ['-0.00000001', -1n],
  ['1E2', 10_000_000_000n],
  [new LosslessNumber('10000000000.00000001'), 10n ** 18n + 1n],
  ['0.100000000', 10_000_000n],
])('%s coins', (coins, satoshis) => {
  expect(coinsToSatoshis(coins)).toBe(satoshis);
});

test.each(['', 'NaN', '1,5', '0.000000001', '1e-9'])('refuses %j', (text) => {
  expect(() => coinsToSatoshis(text)).toThrow(RangeError);
});

it('coins print with 8 decimals and read back as they were', () => {
  expect([0n, 1n, -150_000_000n].map(satoshisToCoins)).toEqual(['0.00000000', '0.00000001', '-1.50000000']);
  fc.assert(fc.property(fc.bigInt(), (satoshis) => coinsToSatoshis(satoshisToCoins(satoshis)) === satoshis));
});

it('an integer beyond the range of doubles stays exact', () => {
  expect(exactInteger(new LosslessNumber('1000000000000000001'))).toBe(10n ** 18n + 1n);
  expect(() => exactInteger(1.5)).toThrow(RangeError);
});
