/** A series of days, weeks or months without gaps. */

import { SECONDS_PER_DAY, utcDate } from '../../../domain/time.ts';
import { ApiError } from '../../http/api-error.ts';
import { feesOf, printUsd } from '../../http/usd.ts';
import { NO_VOLUME, type Trades, type Unit } from './trades.ts';

/** First second of the UTC day, week (from Monday) or month that contains a moment. */
export function startOf(unit: Unit, seconds: number): number {
  const date = new Date(seconds * 1000);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const sinceMonday = (date.getUTCDay() + 6) % 7;
  if (unit === 'month') return Date.UTC(year, month) / 1000;
  return Date.UTC(year, month, unit === 'week' ? day - sinceMonday : day) / 1000;
}

/** Starts of the last `count` periods, the one of `end` last. */
export function periods(unit: Unit, end: number, count: number): number[] {
  const starts = [startOf(unit, end)];
  while (starts.length < count) starts.push(startOf(unit, (starts.at(-1) ?? 0) - 1));
  return starts.reverse();
}

/** The last `count` periods up to `end` (seconds since the epoch), for one basket or for all. @throws ApiError syncing before the first block */
export async function volumeSeries(
  trades: Trades,
  unit: Unit,
  count: number,
  end: number,
  basketId: string | null = null,
) {
  if (end === 0) throw new ApiError('syncing', 'no block is priced yet');
  const starts = periods(unit, end, count);
  const sums = await trades.byPeriod(unit, (starts[0] ?? 0) - 1, basketId);
  return starts.map((start) => {
    const { volume, trades: number } = sums.get(start) ?? NO_VOLUME;
    const date = utcDate(start);
    return { date, volume: printUsd(volume), trades: number, fees: printUsd(feesOf(volume)) };
  });
}

export const daysBefore = (end: number, days: number): number => end - days * SECONDS_PER_DAY;

/** Start of the period for each chain, counted back from its own newest block. */
export function daysBeforeEach({ ends }: Pick<Trades, 'ends'>, days: number): ReadonlyMap<string, number> {
  return new Map([...ends].map(([chain, end]) => [chain, daysBefore(end, days)]));
}
