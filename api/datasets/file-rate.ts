/** Lets bytes of files leave at a bounded rate, all readers together, so that other answers do not wait behind them. */

/**
 * Resolves when that many bytes may leave, `least` at least. Networks that wait have turns: each has the same part of the rate, whatever
 * others ask for.
 */
export type FileRate = (network: string, bytes: number, least?: number) => Promise<void>;

/** Twenty networks that use up their allowance, hour by hour, fetch as much. */
export const BYTES_PER_SECOND = 10 * 2 ** 20;
/** A small part is charged at least this, since its request costs as much: 70 of them a second, with those requests, take a twentieth of a core. */
const LEAST_BYTES = 2 ** 17;
/** A timer is no finer. */
const FINEST_MS = 1;

interface Part {
  readonly ms: number;
  readonly letGo: () => void;
}

export function limitRate(bytesPerSecond: number, now: () => number = performance.now.bind(performance)): FileRate {
  /** When all that was let go has left. */
  let free = 0;
  /** By network, the next one first. */
  const waiting = new Map<string, Part[]>();

  function letGo(): void {
    for (const [network, parts] of waiting) {
      if (free - now() >= FINEST_MS) break;
      waiting.delete(network);
      const part = parts.shift();
      if (parts.length > 0) waiting.set(network, parts);
      // Not from this moment on: a timer that is late takes nothing from the rate.
      free += part?.ms ?? 0;
      part?.letGo();
    }
    if (waiting.size > 0) setTimeout(letGo, free - now()).unref();
  }

  return async (network, bytes, least = LEAST_BYTES) => {
    // In parts, so that whoever asks for much at once has no more of each turn.
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
      const parts = waiting.get(network) ?? [];
      parts.push({ ms, letGo: resolve });
      waiting.set(network, parts);
    });
    if (isFirst) setTimeout(letGo, free - moment).unref();
    await ours;
  }
}
