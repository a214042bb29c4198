/**
 * Lets long work share the event loop: the work pauses once it has used its slice of time and continues after a rest.
 * Pattern: `if (pace.isSpent()) await pace.rest();` before each small piece; `restsOf` for pieces that are smaller than a turn.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

export interface Pace {
  /** How long work may run without a rest. */
  readonly sliceMs: number;
  /** Whether this turn has used up its slice, or other work is waiting. */
  isSpent(): boolean;
  /** Resolves in a later turn of the event loop, in the order of the calls. */
  rest(): Promise<void>;
}

export interface PaceOptions {
  readonly sliceMs: number;
  /** With a rest as long as a slice, work takes at most half of the time; 0 only yields between slices. */
  readonly restMs: number;
}

export function createPace({ sliceMs, restMs }: PaceOptions): Pace {
  const waiting: (() => void)[] = [];
  let began: number | null = null;
  let isReleasing = false;

  async function release(): Promise<void> {
    isReleasing = true;
    while (waiting.length > 0) {
      await (restMs > 0 ? sleep(restMs) : nextTurn());
      began = performance.now();
      do {
        waiting.shift()?.();
        await nextTurn();
      } while (waiting.length > 0 && performance.now() - began < sliceMs);
    }
    isReleasing = false;
    began = null;
  }

  return {
    sliceMs,
    isSpent() {
      if (waiting.length > 0) return true;
      const now = performance.now();
      if (began === null) {
        began = now;
        setImmediate(() => {
          if (!isReleasing) began = null;
        });
      }
      return now - began >= sliceMs;
    },
    rest() {
      return new Promise((resolve) => {
        waiting.push(resolve);
        if (!isReleasing) void release();
      });
    },
  };
}

/** How long a worker may run before it checks the pace again. */
const SHARE_MS = 1;

/**
 * Returns a function to call before each of many tiny pieces; it returns the rest to await, or null. The pace releases one waiting worker
 * per turn, so a worker runs for a millisecond before it checks again. The first piece never waits, so small work overtakes large work.
 */
export function restsOf(pace: Pace): () => Promise<void> | null {
  let until: number | null = null;
  const share = () => {
    until = performance.now() + SHARE_MS;
  };
  return () => {
    if (until === null) share();
    else if (performance.now() >= until) {
      if (pace.isSpent()) return pace.rest().then(share);
      share();
    }
    return null;
  };
}
