import fc from 'fast-check';
import { expect, it } from 'vitest';
import { backoffMs, DAEMON_BACKOFF } from './backoff.ts';

it('doubles from a quarter of a second to a quarter of a minute', () => {
  const longest = Array.from({ length: 9 }, (_, failures) => backoffMs(failures, DAEMON_BACKOFF, () => 1));
  expect(longest).toEqual([250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
});

it('randomizes the upper half of the wait and always stays finite', () => {
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
      const longest = backoffMs(failures, DAEMON_BACKOFF, () => 1);
      const wait = backoffMs(failures, DAEMON_BACKOFF, () => chance);
      expect(wait).toBeGreaterThanOrEqual(longest / 2);
      expect(wait).toBeLessThanOrEqual(longest);
    }),
  );
});
