/** When a message that was not accepted is sent again. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Delays after the first failure, the second and so on, in milliseconds; after one more failure a message has failed. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  10 * HOUR,
];
/** Jitter as a share of the delay, so that deliveries that failed together are not retried together. */
const JITTER = 0.2;
/** Longest wait: a receiver that asks for a longer one is tried again after this time. */
const LONGEST_WAIT_MS = 10 * HOUR;

/** Returns null if it was the last attempt. `random` is in [0, 1). */
export function retryDelayMs(
  failures: number,
  askedMs: number | null,
  random: number,
  delays: readonly number[] = RETRY_DELAYS_MS,
): number | null {
  const delay = delays[failures - 1];
  if (delay === undefined) return null;
  return Math.round(Math.max(delay * (1 + JITTER * random), askedMs ?? 0));
}

/** Converts Retry-After, in seconds or as a date, to milliseconds; null for any other text. */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  const asked = /^\d+$/.test(text) ? Number(text) * SECOND : Date.parse(text) - now;
  return Number.isNaN(asked) ? null : Math.min(Math.max(asked, 0), LONGEST_WAIT_MS);
}
