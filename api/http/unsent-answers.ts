/**
 * Sends the rest of answers that clients have not read yet. uWebSockets.js would copy it for each connection, and take further requests
 * meanwhile; this sends it from the bytes of the answer itself, no faster than the client reads, and counts it by network. Until it has all
 * been taken the answer is not complete, and uWebSockets.js closes the connection at its next request.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { type AnsweredClient, clientOf, type Reader, readerOf } from './answered-client.ts';
import { type BufferedBodies, createBufferedBodies } from './buffered-bodies.ts';
import { LEAST_PACE, type LeastPace, Patience } from './reader-pace.ts';

export interface Unsent {
  /** The rest of the body. */
  readonly bytes: Uint8Array;
  /** The length of the whole body. */
  readonly total: number;
  /** Nothing more is read from the connection. */
  readonly closes?: boolean;
  /** The bytes stay in memory in any case, so they are not counted. */
  readonly isLasting?: boolean;
}

export interface UnsentAnswers {
  /** After the first tryEnd(). Resolves to the number of bytes that were taken; fewer than were left when the client is gone, or given up. */
  send(res: HttpResponse, unsent: Unsent, network: string, client?: AnsweredClient): Promise<number>;
  /** For an answer that flows. `close` ends its connection, and is not called once it is released. */
  hold(network: string, close: () => void): HeldAnswer;
  /**
   * Whether an answer without a body is to be the last one of its connection: uWebSockets.js does not say whether it has been taken, so
   * chance bounds how many are copied.
   */
  endsConnection(): boolean;
}

/** Memory that an answer keeps while its reader is waited for. */
export interface HeldAnswer {
  /** Bytes that it keeps from now on; may give up others, or itself. */
  keep(bytes: number): void;
  release(): void;
}

export interface UnsentAnswersOptions {
  /** Counts them, so that a shutdown can wait for them. */
  readonly underWay?: { count: number; sending: number };
  /** Beyond its bounds the answer that has kept most for longest is given up, as with bodies of requests. */
  readonly counted?: BufferedBodies;
  /** Bytes of all answers, counted whole: beyond it the largest is given up. */
  readonly most?: number;
  readonly least?: LeastPace;
  /** Answers without a body that a connection gets on average. */
  readonly withoutBody?: number;
}

/** A kilobyte each, about. */
const WITHOUT_BODY = 256;

/** More of one answer is not counted for its network, which may always wait for one, however large. */
const MOST_COUNTED = 12 * 1024 * 1024;
/** Room for the largest answer that a daemon may give. */
const MOST = 512 * 1024 * 1024;

export function createUnsentAnswers({
  underWay = { count: 0, sending: 0 },
  counted = createBufferedBodies(),
  most = MOST,
  least = LEAST_PACE,
  withoutBody = WITHOUT_BODY,
}: UnsentAnswersOptions = {}): UnsentAnswers {
  const hold = holdAnswers(counted, most);
  return {
    hold,
    endsConnection: () => Math.random() * withoutBody < 1,
    async send(res, unsent, network, client = clientOf(res)) {
      let left = unsent.bytes.byteLength;
      const held = hold(network, () => {
        if (!client.aborted) res.close();
      });
      const count = () => {
        if (!unsent.isLasting) held.keep(left);
      };
      count();
      underWay.count += 1;
      underWay.sending += 1;
      await sendOn(res, unsent, readerOf(res, client, new Patience(least)), (bytes) => {
        left -= bytes;
        count();
      });
      held.release();
      underWay.count -= 1;
      underWay.sending -= 1;
      return unsent.bytes.byteLength - left;
    },
  };
}

interface Kept {
  bytes: number;
  giveUp: () => void;
}

const nothing = () => {};

function holdAnswers(counted: BufferedBodies, most: number): UnsentAnswers['hold'] {
  const all = new Set<Kept>();
  let sum = 0;

  function forget(kept: Kept): void {
    if (all.delete(kept)) sum -= kept.bytes;
  }

  return (network, close) => {
    let isOver = false;
    const giveUp = () => {
      forget(kept);
      body.release();
      // Not at once: the connection may be corked at this moment.
      setImmediate(() => {
        if (!isOver) close();
      });
    };
    const body = counted.hold(network, { evict: giveUp });
    const kept: Kept = { bytes: 0, giveUp };
    all.add(kept);
    return {
      keep(bytes) {
        if (!all.has(kept)) return;
        sum += bytes - kept.bytes;
        kept.bytes = bytes;
        body.grow(Math.min(bytes, MOST_COUNTED));
        while (sum > most) largest(all).giveUp();
      },
      release() {
        isOver = true;
        forget(kept);
        kept.giveUp = nothing; // an old table of the Set may keep it for long
        body.release();
      },
    };
  };
}

/** There is at least one. */
const largest = (all: Iterable<Kept>): Kept => [...all].reduce((one, other) => (other.bytes > one.bytes ? other : one));

/** Resolves to whether all was taken; else the client is gone, or has been too slow. `taken` is called with the bytes that it takes. */
export async function sendOn(
  res: HttpResponse,
  { bytes, total, closes = false }: Unsent,
  { client, patience, untilRoom }: Reader,
  taken: (bytes: number) => void,
): Promise<boolean> {
  for (let rest = bytes; ; ) {
    await untilRoom();
    if (client.aborted) return false;
    if (closes) res.pause(); // a write that fails has the connection read again
    const written = offerToEnd(res, rest, total);
    patience.took(written);
    taken(written);
    if (written === rest.byteLength) return true;
    if (patience.leftMs === 0) {
      res.close();
      return false;
    }
    rest = rest.subarray(written);
  }
}

/** Returns how many of the bytes, the next ones of a body, the connection has taken. */
export function offer(res: HttpResponse, bytes: Uint8Array, total: number): number {
  const before = res.getWriteOffset();
  let isTaken = true;
  res.cork(() => {
    [isTaken] = res.tryEnd(bytes, total);
  });
  return isTaken ? bytes.byteLength : res.getWriteOffset() - before;
}

/**
 * As `offer`, but the last byte of a body goes only once the connection has sent on what it has copied of the others. With it the answer
 * is complete for uWebSockets.js, which then tries no longer, and serves the next request.
 */
export function offerToEnd(res: HttpResponse, bytes: Uint8Array, total: number): number {
  if (res.getWriteOffset() + bytes.byteLength < total || bytes.byteLength === 1) return offer(res, bytes, total);
  const most = bytes.byteLength - 1;
  const taken = offer(res, bytes.subarray(0, most), total);
  return taken < most ? taken : taken + offer(res, bytes.subarray(most), total);
}
