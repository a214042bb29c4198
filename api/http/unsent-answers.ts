/**
 * Sends the rest of answers that clients have not read yet. uWebSockets.js would copy the rest for each connection and accept further requests
 * meanwhile. This module sends it from the answer's own bytes, no faster than the client reads, and counts it by network. Until all bytes are
 * taken, the answer is incomplete, and uWebSockets.js closes the connection at its next request.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { type AnsweredClient, clientOf, type Reader, readerOf } from './answered-client.ts';
import { createHeldAnswers, type HeldAnswers, type HeldAnswersOptions } from './held-answers.ts';
import { LEAST_PACE, type LeastPace, Patience } from './reader-pace.ts';

export interface Unsent {
  /** The rest of the body. */
  readonly bytes: Uint8Array;
  /** The length of the whole body. */
  readonly total: number;
  /** Whether the connection is closed after the answer: nothing more is read from it. */
  readonly closes?: boolean;
  /** Whether the bytes stay in memory in any case, so that they are not counted. */
  readonly isLasting?: boolean;
}

export interface UnsentAnswers extends Pick<HeldAnswers, 'gather'> {
  /** Call it after the first tryEnd(). Resolves to the number of bytes taken: fewer than given when the client left or was too slow. */
  send(res: HttpResponse, unsent: Unsent, network: string, client?: AnsweredClient): Promise<number>;
  /** For a streamed answer. The callback must close its connection; it is not called after the release. */
  readonly hold: HeldAnswers['hold'];
  /**
   * Decides at random whether an answer without a body is the last one of its connection: uWebSockets.js does not report whether such an
   * answer was taken, so this bounds how many unread copies a connection collects.
   */
  endsConnection(): boolean;
}

export interface UnsentAnswersOptions extends HeldAnswersOptions {
  /** Counts the answers being sent, so that a shutdown can wait for them. */
  readonly underWay?: { count: number; sending: number };
  readonly least?: LeastPace;
  /** Average number of answers without a body after which a connection is closed. */
  readonly withoutBody?: number;
}

/** Each takes about a kilobyte. */
const WITHOUT_BODY = 256;

export function createUnsentAnswers({
  underWay = { count: 0, sending: 0 },
  least = LEAST_PACE,
  withoutBody = WITHOUT_BODY,
  ...bounds
}: UnsentAnswersOptions = {}): UnsentAnswers {
  const { hold, gather } = createHeldAnswers(bounds);
  return {
    hold,
    gather,
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

/** Resolves to true once all bytes are taken, to false when the client left or was too slow. Calls `taken` with the bytes of each attempt. */
export async function sendOn(
  res: HttpResponse,
  { bytes, total, closes = false }: Unsent,
  { client, patience, untilRoom }: Reader,
  taken: (bytes: number) => void,
): Promise<boolean> {
  for (let rest = bytes; ; ) {
    await untilRoom();
    if (client.aborted) return false;
    if (closes) res.pause(); // a failed write makes the connection read again
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

/** Offers the next bytes of a body to the connection, and returns how many it has taken. */
export function offer(res: HttpResponse, bytes: Uint8Array, total: number): number {
  const before = res.getWriteOffset();
  let isTaken = true;
  res.cork(() => {
    [isTaken] = res.tryEnd(bytes, total);
  });
  return isTaken ? bytes.byteLength : res.getWriteOffset() - before;
}

/**
 * Like `offer`, but offers the last byte of a body only after the connection has sent all bytes that it copied before. The last byte completes
 * the answer for uWebSockets.js, which then stops retrying and serves the next request.
 */
export function offerToEnd(res: HttpResponse, bytes: Uint8Array, total: number): number {
  if (res.getWriteOffset() + bytes.byteLength < total || bytes.byteLength === 1) return offer(res, bytes, total);
  const most = bytes.byteLength - 1;
  const taken = offer(res, bytes.subarray(0, most), total);
  return taken < most ? taken : taken + offer(res, bytes.subarray(most), total);
}
