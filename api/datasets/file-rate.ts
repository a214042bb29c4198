/** Bounds the rate at which all files together are sent, so that other answers do not wait behind them. */
import { getOrInsert } from '../../domain/get-or-insert.ts';

/**
 * Resolves when `bytes` may be sent; they count as `least` at least. Waiting networks take turns, so that each gets the same share of the rate,
 * however much it requests.
 */
export type FileRate = (network: string, bytes: number, least?: number) => Promise<void>;

/** As much as twenty networks fetch that use up their allowance every hour. */
export const BYTES_PER_SECOND = 10 * 2 ** 20;
/** A small part counts as this much, because its request costs as much: 70 a second take a twentieth of a core. */
const LEAST_BYTES = 2 ** 17;
/** Resolution of timers. */
const FINEST_MS = 1;

interface Part {
  readonly ms: number;
  readonly letGo: () => void;
}

export function limitRate(bytesPerSecond: number, now: () => number = performance.now.bind(performance)): FileRate {
  /** When all admitted bytes will have been sent at the rate. */
  let free = 0;
  /** Waiting parts by network, the next network to run first. */
  const waiting = new Map<string, Part[]>();

  function letGo(): void {
    for (const [network, parts] of waiting) {
      if (free - now() >= FINEST_MS) break;
      waiting.delete(network);
      const part = parts.shift();
      if (parts.length > 0) waiting.set(network, parts);
      // Added to `free`, not to the current time, so that a late timer does not lower the rate.
      free += part?.ms ?? 0;
      part?.letGo();
    }
    if (waiting.size > 0) setTimeout(letGo, free - now()).unref();
  }

  return async (network, bytes, least = LEAST_BYTES) => {
    // Split into parts, so that a large request gets no larger share of each turn.
    for (let left = Math.max(bytes, least); left > 0; left -= LEAST_BYTES)
      await turn(network, Math.min(left, LEAST_BYTES));
  };

  async function turn(network: string, bytes: number): Promise<void> {
    const ms = (bytes / bytesPerSecond) * 1000;
    const moment = now();
    if (waiting.size === 0 && free - moment < FINEST_MS) {
      free = Math.max(free, moment) + ms;
      return;
    }
    const isFirst = waiting.size === 0;
    const ours = new Promise<void>((resolve) => {
      getOrInsert(waiting, network, () => []).push({ ms, letGo: resolve });
    });
    if (isFirst) setTimeout(letGo, free - moment).unref();
    await ours;
  }
}
