/** Time as the chains count it: seconds since the epoch. */

export const SECONDS_PER_DAY = 86_400;

/** Number of the UTC day: seconds since the epoch divided by 86,400. */
export function utcDay(seconds: number): number {
  return Math.floor(seconds / SECONDS_PER_DAY);
}
