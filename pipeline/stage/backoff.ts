/** Waits between attempts. */

export interface BackoffLimits {
  readonly minMs: number;
  readonly maxMs: number;
}

export const DAEMON_BACKOFF: BackoffLimits = { minMs: 250, maxMs: 15_000 };

/** Milliseconds to wait after the n-th failure in a row (0, 1 …): doubling, the upper half of it by chance. */
export function backoffMs(
  failures: number,
  { minMs, maxMs }: BackoffLimits,
  random: () => number = Math.random,
): number {
  const delay = Math.min(maxMs, minMs * 2 ** Math.min(failures, 30));
  return delay / 2 + (random() * delay) / 2;
}
