/** Time as the chains count it: seconds since the epoch. */

export const SECONDS_PER_DAY = 86_400;

/** Seconds since the epoch → `2026-11-25`. */
export function utcDate(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/** Number of the UTC day: seconds since the epoch divided by 86,400. */
export function utcDay(seconds: number): number {
  return Math.floor(seconds / SECONDS_PER_DAY);
}

/** ISO 8601 time in UTC → milliseconds since the epoch; NaN for a day that does not exist, which Date.parse moves to the next month. */
export function parseUtc(text: string): number {
  const isInCalendar = new Date(text.slice(0, 10)).getUTCDate() === Number(text.slice(8, 10));
  return isInCalendar ? Date.parse(text) : Number.NaN;
}
