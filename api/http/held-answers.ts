/** Bounds the memory of answers by caller and in total, from the first byte of a daemon's reply until the client has read the answer. */
import { type BufferedBodies, createBufferedBodies } from './buffered-bodies.ts';

export interface HeldAnswers {
  /** For an answer that waits for its reader. `giveUp` is not called after the release. */
  hold(network: string, giveUp: () => void): HeldAnswer;
  /** For an answer that is incomplete or waits for the rest of its batch; counted by the payer. */
  gather(payer: string, giveUp: () => void): HeldAnswer;
}

export interface HeldAnswer {
  /** Sets the bytes that the answer holds from now on; may evict other answers, or this one. */
  keep(bytes: number): void;
  release(): void;
}

export interface HeldAnswersOptions {
  /** Bounds unread answers: beyond them the answer that has held most for longest is evicted, as with request bodies. */
  readonly counted?: BufferedBodies;
  /** The same for gathered answers, which are counted in full. */
  readonly gathered?: BufferedBodies;
  /** Maximum bytes of all answers, counted in full: beyond it the largest is evicted. */
  readonly most?: number;
}

const MEBIBYTE = 1024 * 1024;
/** Bytes of one answer that count for its network at most, so that a network can always read one answer of any size. */
const MOST_COUNTED = 12 * MEBIBYTE;
/** Room for the largest reply that the tailer accepts from a daemon, or for four callers that each gather as much as allowed. */
const MOST = 512 * MEBIBYTE;
/** Two of the largest answers that are passed on to callers. */
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
          kept.giveUp = nothing; // an old table of the Set may keep `kept` alive for long
          body.release();
        },
      };
    };
  }

  const holdUnsent = holdIn(counted, MOST_COUNTED);
  return {
    hold(network, giveUp) {
      let isOver = false;
      // In a later turn: the connection may be corked now.
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

/** `all` must not be empty. */
const largest = (all: Iterable<Kept>): Kept => [...all].reduce((one, other) => (other.bytes > one.bytes ? other : one));
