import { describe, expect, it } from 'vitest';
import { SECONDS_PER_DAY, utcDay } from '../../domain/time.ts';
import { boundsCloseAt, boundsOf, isOutOfBounds } from './backfill-bounds.ts';

const daily = (...prices: readonly (readonly [day: number, usd: bigint])[]) =>
  prices.map(([day, usd]) => ({ day, usd }));

describe('bounds', () => {
  it('are around the median of the days within 15 of the day', () => {
    const prices = daily([4, 999n], [5, 10n], [20, 30n], [35, 20n], [36, 1n]);
    expect(boundsOf(20, prices)).toEqual({ twiceMedian: 40n, days: 3 });
  });

  it('take the mean of the middle two of an even number', () => {
    expect(boundsOf(1, daily([0, 8n], [1, 1n], [2, 5n], [3, 2n]))).toEqual({ twiceMedian: 7n, days: 4 });
  });

  it('are none without a daily price', () => {
    expect(boundsOf(100, daily([1, 5n]))).toBeNull();
  });

  it('include prices from a tenth to ten times the median, both inclusive', () => {
    const bounds = { twiceMedian: 200n, days: 1 };
    const inside = [10n, 100n, 1000n].map((usd) => isOutOfBounds(usd, bounds));
    const outside = [9n, 1001n].map((usd) => isOutOfBounds(usd, bounds));
    expect(inside).toEqual([false, false, false]);
    expect(outside).toEqual([true, true]);
  });

  it('close when the 15th day after the day is over', () => {
    expect(utcDay(boundsCloseAt(20))).toBe(36);
    expect(boundsCloseAt(20) % SECONDS_PER_DAY).toBe(0);
  });
});
