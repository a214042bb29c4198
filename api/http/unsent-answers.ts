/**
 * Sends the rest of answers that clients have not read yet. uWebSockets.js would copy it for each connection, and take further requests
 * meanwhile; this sends it from the bytes of the answer itself, no faster than the client reads, and counts it by network. Until it has all
 * been taken the answer is not complete, and uWebSockets.js closes the connection at its next request.
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
  /** Nothing more is read from the connection. */
  readonly closes?: boolean;
  /** The bytes stay in memory in any case, so they are not counted. */
  readonly isLasting?: boolean;
}

export interface UnsentAnswers extends Pick<HeldAnswers, 'gather'> {
  /** After the first tryEnd(). Resolves to the number of bytes that were taken; fewer than were left when the client is gone, or given up. */
  send(res: HttpResponse, unsent: Unsent, network: string, client?: AnsweredClient): Promise<number>;
  /** For an answer that flows. `close` ends its connection, and is not called once it is released. */
  readonly hold: HeldAnswers['hold'];
  /**
   * Whether an answer without a body is to be the last one of its connection: uWebSockets.js does not say whether it has been taken, so
   * chance bounds how many are copied.
   */
  endsConnection(): boolean;
}

export interface UnsentAnswersOptions extends HeldAnswersOptions {
  /** Counts them, so that a shutdown can wait for them. */
  readonly underWay?: { count: number; sending: number };
  readonly least?: LeastPace;
  /** Answers without a body that a connection gets on average. */
  readonly withoutBody?: number;
}

/** A kilobyte each, about. */
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
