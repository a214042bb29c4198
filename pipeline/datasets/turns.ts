/** Runs a limited number of works at once; further works wait in order of arrival. `signal` ends the wait, not the work. */
export type Turns = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

export function createTurns(most: number): Turns {
  let free = most;
  const waiting = new Set<() => void>();

  const itsTurn = (signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        waiting.delete(begin);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      waiting.add(begin);
    });

  return async (work, signal) => {
    signal?.throwIfAborted();
    if (free > 0) free -= 1;
    else await itsTurn(signal);
    try {
      return await work();
    } finally {
      const [next] = waiting;
      if (next) {
        waiting.delete(next);
        next();
      } else free += 1;
    }
  };
}

/** Runs work without waiting. */
export const AT_ONCE: Turns = (work) => work();
