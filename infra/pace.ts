/**
 * Long work shares the event loop with everybody else: it stops once it has had its part of a turn and goes on after a rest.
 * Pattern: `if (pace.isSpent()) await pace.rest();` before each small piece; `restsOf` for pieces that are smaller than a turn.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

export interface Pace {
  /** How long work may go on without a rest. */
  readonly sliceMs: number;
  /** Whether this turn has used its time, or other work is waiting. */
  isSpent(): boolean;
  /** Resolves in a later turn of the event loop, first come first served. */
  rest(): Promise<void>;
}

export interface PaceOptions {
  readonly sliceMs: number;
  /** If as long as a slice, work takes at most half of the time; 0 only yields between slices. */
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

/** What a worker may do before it asks again. */
const SHARE_MS = 1;

/**
 * Before each of many tiny pieces: the rest to await, or null. The pace lets one of those who wait through at a turn, so a worker goes on
 * for a millisecond, and the first piece of each asks nothing: small work passes large work.
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
