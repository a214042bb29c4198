import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RETRY_DELAYS_MS, retryAfterMs, retryDelayMs } from './retry-schedule.ts';

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const LONGEST_MS = 36_000_000;

it('waits as scheduled and at most a fifth longer, or as long as the receiver asks for, and ends', () => {
  expect(RETRY_DELAYS_MS.map((delay) => delay / 1000)).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 36_000]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.option(fc.nat(LONGEST_MS)), random, (failures, asked, share) => {
      const wait = retryDelayMs(failures, asked, share);
      const delay = RETRY_DELAYS_MS[failures - 1];
      if (delay === undefined) {
        expect(wait).toBeNull();
        return;
      }
      expect(wait).toBeGreaterThanOrEqual(Math.max(delay, asked ?? 0));
      expect(wait).toBeLessThanOrEqual(Math.max(delay * 1.2, asked ?? 0));
    }),
  );
});

it('reads Retry-After in seconds and as a date, ten hours at most', () => {
  const now = Date.UTC(2026, 0, 1);
  expect(retryAfterMs('120', now)).toBe(120_000);
  expect(retryAfterMs('Thu, 01 Jan 2026 00:01:00 GMT', now)).toBe(60_000);
  expect(retryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.nat().map(String), fc.bigInt().map(String)), (text) => {
      const wait = retryAfterMs(text, now);
      if (wait !== null) expect(wait >= 0 && wait <= LONGEST_MS).toBe(true);
    }),
  );
  expect([undefined, ['1', '2'], 'soon', ''].map((header) => retryAfterMs(header, now))).toEqual([
    null,
    null,
    null,
    null,
  ]);
});
