/** Lets bytes of files leave at a bounded rate, all readers together, so that other answers do not wait behind them. */

/** Resolves when that many bytes may leave; who asks first goes first. */
export type FileRate = (bytes: number) => Promise<void>;

/** Well beyond what a home or an office fetches; 8 readers at once have 4 MiB each. */
export const BYTES_PER_SECOND = 2 ** 25;
/** A small part is charged at least this, since its request costs as much: 256 of them a second, a tenth of a core. */
const LEAST_BYTES = 2 ** 17;
/** A timer is no finer. */
const FINEST_MS = 1;

export function limitRate(bytesPerSecond: number, now: () => number = performance.now.bind(performance)): FileRate {
  /** When all that was let go has left. */
  let free = 0;
  return async (bytes) => {
    const moment = now();
    const wait = free - moment;
    free = Math.max(free, moment) + (Math.max(bytes, LEAST_BYTES) / bytesPerSecond) * 1000;
    if (wait >= FINEST_MS) await new Promise((resolve) => setTimeout(resolve, wait));
  };
}
