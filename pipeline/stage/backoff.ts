/** Exponential backoff with jitter. */

export interface BackoffLimits {
  readonly minMs: number;
  readonly maxMs: number;
}

export const DAEMON_BACKOFF: BackoffLimits = { minMs: 250, maxMs: 15_000 };

/** Milliseconds to wait after consecutive failure number `failures` (0, 1 …): doubles each time; the upper half is random. */
export function backoffMs(
  failures: number,
  { minMs, maxMs }: BackoffLimits,
  random: () => number = Math.random,
): number {
  const delay = Math.min(maxMs, minMs * 2 ** Math.min(failures, 30));
  return delay / 2 + (random() * delay) / 2;
}
