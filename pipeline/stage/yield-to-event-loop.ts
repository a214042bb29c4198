/** Lets long work share the process with everything else that runs in it. */
import { setImmediate as nextTurn } from 'node:timers/promises';

const TURN_MS = 2;

/** Returns a function to call between pieces of work: after a few milliseconds it lets the event loop run. Throws once `signal` has aborted. */
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
