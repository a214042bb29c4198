import { expect, it } from 'vitest';
import { SECONDS_PER_DAY, utcDay } from './time.ts';

it('a day begins at midnight UTC, also before the epoch', () => {
  const midnight = Date.UTC(2024, 1, 29) / 1000;
  expect([midnight - 1, midnight, midnight + SECONDS_PER_DAY - 1].map(utcDay)).toEqual([19_781, 19_782, 19_782]);
  expect(utcDay(-1)).toBe(-1);
});
