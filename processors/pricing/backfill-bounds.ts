/** Judges whether a backfill price is believable, by the median of the daily prices around its day. */
import { parsePrice } from '../../domain/decimal.ts';
import { ascending } from '../../domain/order.ts';
import { SECONDS_PER_DAY } from '../../domain/time.ts';
import type { ConversionSide } from './stamp-decision.ts';

/** Days on either side of a conversion's day. */
export const BOUNDS_DAYS = 15;

export interface DailyPrice {
  /** UTC day: seconds since the epoch divided by 86,400. */
  readonly day: number;
  /** Last backfill price of the day, scaled by 10^30. */
  readonly usd: bigint;
}

export interface PriceBounds {
  /** Twice the median, so that the mean of the middle two stays whole; scaled by 10^30. */
  readonly twiceMedian: bigint;
  readonly days: number;
}

/** First second at which the bounds of a day can no longer change. */
export function boundsCloseAt(day: number): number {
  return (day + BOUNDS_DAYS + 1) * SECONDS_PER_DAY;
}

/** Computes the bounds of a day from the daily prices near it; null when there are none. */
export function boundsOf(day: number, daily: readonly DailyPrice[]): PriceBounds | null {
  const near = daily.filter((price) => Math.abs(price.day - day) <= BOUNDS_DAYS).map(({ usd }) => usd);
  near.sort(ascending);
  const [lower, upper] = [near[(near.length - 1) >> 1], near[near.length >> 1]];
  if (lower === undefined || upper === undefined) return null;
  return { twiceMedian: lower + upper, days: near.length };
}

/** True when the price is outside the limits that are configured for the currency. */
export function isOutsideLimits({ price, limits }: Pick<ConversionSide, 'price' | 'limits'>): boolean {
  if (price === null || !limits) return false;
  const { min, max } = limits;
  return (min !== undefined && price < parsePrice(min)) || (max !== undefined && price > parsePrice(max));
}

/** True when the price is outside [0.1, 10] times the median. */
export function isOutOfBounds(usd: bigint, { twiceMedian }: PriceBounds): boolean {
  return 20n * usd < twiceMedian || 2n * usd > 10n * twiceMedian;
}
