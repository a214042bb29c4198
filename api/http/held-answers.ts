/** Memory that answers hold, from the first byte that a daemon sends of them until their readers have taken them: bounded by caller and in all. */
import { type BufferedBodies, createBufferedBodies } from './buffered-bodies.ts';

export interface HeldAnswers {
  /** For one whose reader is waited for. `giveUp` is not called once it is released. */
  hold(network: string, giveUp: () => void): HeldAnswer;
  /** For one that is not whole yet, or waits for the rest of its batch; by who pays for it. */
  gather(payer: string, giveUp: () => void): HeldAnswer;
}

export interface HeldAnswer {
  /** Bytes that it keeps from now on; may give up others, or itself. */
  keep(bytes: number): void;
  release(): void;
}

export interface HeldAnswersOptions {
  /** Beyond its bounds the answer that has kept most for longest is given up, as with bodies of requests. */
  readonly counted?: BufferedBodies;
  /** The same of those that are gathered, which are counted whole. */
  readonly gathered?: BufferedBodies;
  /** Bytes of all answers, counted whole: beyond it the largest is given up. */
  readonly most?: number;
}

const MEBIBYTE = 1024 * 1024;
/** More of one answer is not counted for its network, which may always wait for one, however large. */
const MOST_COUNTED = 12 * MEBIBYTE;
/** Room for the largest answer that the tailer takes of a daemon, or for four callers with all that each may gather. */
const MOST = 512 * MEBIBYTE;
/** Two of the largest answers that are handed on. */
const MOST_GATHERED = 128 * MEBIBYTE;

interface Kept {
  bytes: number;
  giveUp: () => void;
}

const nothing = () => {};

export function createHeldAnswers({
  counted = createBufferedBodies(),
  gathered = createBufferedBodies({ most: Number.POSITIVE_INFINITY, mostOfNetwork: MOST_GATHERED }),
  most = MOST,
}: HeldAnswersOptions = {}): HeldAnswers {
  const all = new Set<Kept>();
  let sum = 0;

  function forget(kept: Kept): void {
    if (all.delete(kept)) sum -= kept.bytes;
  }

  function holdIn(bodies: BufferedBodies, mostCounted: number): HeldAnswers['hold'] {
    return (network, close) => {
      const giveUp = () => {
        forget(kept);
        body.release();
        close();
      };
      const body = bodies.hold(network, { evict: giveUp });
      const kept: Kept = { bytes: 0, giveUp };
      all.add(kept);
      return {
        keep(bytes) {
          if (!all.has(kept)) return;
          sum += bytes - kept.bytes;
          kept.bytes = bytes;
          body.grow(Math.min(bytes, mostCounted));
          while (sum > most) largest(all).giveUp();
        },
        release() {
          forget(kept);
          kept.giveUp = nothing; // an old table of the Set may keep it for long
          body.release();
        },
      };
    };
  }

  const holdUnsent = holdIn(counted, MOST_COUNTED);
  return {
    hold(network, giveUp) {
      let isOver = false;
      // Not at once: the connection may be corked at this moment.
      const held = holdUnsent(network, () => setImmediate(() => isOver || giveUp()));
      return {
        keep: held.keep,
        release() {
          isOver = true;
          held.release();
        },
      };
    },
    gather: holdIn(gathered, Number.POSITIVE_INFINITY),
  };
}

/** There is at least one. */
const largest = (all: Iterable<Kept>): Kept => [...all].reduce((one, other) => (other.bytes > one.bytes ? other : one));
