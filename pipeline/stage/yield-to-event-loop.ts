/** Long work in small pieces: the process also serves. */
import { setImmediate as nextTurn } from 'node:timers/promises';

const TURN_MS = 8;

/** Call between pieces: lets everything else run once a few milliseconds are used up. Throws when `signal` has aborted. */
export function createYield(signal?: AbortSignal): () => Promise<void> | undefined {
  let turnEnds = performance.now() + TURN_MS;
  return () => {
    signal?.throwIfAborted();
    if (performance.now() < turnEnds) return undefined;
    return nextTurn().then(() => {
      turnEnds = performance.now() + TURN_MS;
    });
  };
}
