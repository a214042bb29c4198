/** Lets long work share the event loop with other work of the process. */
import { setImmediate as nextTurn } from 'node:timers/promises';

const TURN_MS = 2;

/** Returns a function to call between pieces of work: every few ms it lets the event loop run. It throws once `signal` has aborted. */
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
