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
  /**
   * Whether an answer without a body is to be the last one of its connection: uWebSockets.js does not say whether it has been taken, so
   * chance bounds how many are copied.
   */
  endsConnection(): boolean;
}

export interface UnsentAnswersOptions {
  /** Counts them, so that a shutdown can wait for them. */
  readonly underWay?: { count: number; sending: number };
  /** Beyond its bounds the answer that has kept most for longest is given up, as with bodies of requests. */
  readonly counted?: BufferedBodies;
  readonly least?: LeastPace;
  /** Answers without a body that a connection gets on average. */
  readonly withoutBody?: number;
}

/** A kilobyte each, about. */
const WITHOUT_BODY = 256;

/** More of one answer is not counted: a network may always wait for one, however large. */
const MOST_COUNTED = 12 * 1024 * 1024;

export function createUnsentAnswers({
  underWay = { count: 0, sending: 0 },
  counted = createBufferedBodies(),
  least = LEAST_PACE,
  withoutBody = WITHOUT_BODY,
}: UnsentAnswersOptions = {}): UnsentAnswers {
  return {
    endsConnection: () => Math.random() * withoutBody < 1,
    async send(res, unsent, network, client = clientOf(res)) {
      let left = unsent.bytes.byteLength;
      let isOver = false;
      const evict = () => {
        // Not at once: the connection may be corked at this moment.
        setImmediate(() => {
          if (!isOver && !client.aborted) res.close();
        });
      };
      const held = counted.hold(network, { evict });
      const count = () => {
        if (!unsent.isLasting) held.grow(Math.min(left, MOST_COUNTED));
      };
      count();
      underWay.count += 1;
      underWay.sending += 1;
      await sendOn(res, unsent, readerOf(res, client, new Patience(least)), (bytes) => {
        left -= bytes;
        count();
      });
      isOver = true;
      held.release();
      underWay.count -= 1;
      underWay.sending -= 1;
      return unsent.bytes.byteLength - left;
    },
  };
}

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
    const written = offer(res, rest, total);
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
