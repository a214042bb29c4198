/**
 * What clients have not taken yet of their answers. uWebSockets.js would keep a copy of it for each connection, and take further requests
 * meanwhile; so it is sent on from the bytes of the answer itself, no faster than it is read, and counted by network. Until it has all
 * been taken the answer is not complete, and uWebSockets.js closes the connection at its next request.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { type BufferedBodies, createBufferedBodies } from './buffered-bodies.ts';
import { LEAST_PACE, type LeastPace, Patience } from './reader-pace.ts';

/** Tells that the client is gone. */
export interface AnsweredClient {
  aborted: boolean;
  onGone: () => void;
}

export interface Unsent {
  /** What is left of the body. */
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
}

export interface UnsentAnswersOptions {
  /** Counts them, so that a shutdown can wait for them. */
  readonly underWay?: { count: number; sending: number };
  /** Beyond its bounds the answer that has kept most for longest is given up, as with bodies of requests. */
  readonly counted?: BufferedBodies;
  readonly least?: LeastPace;
}

/** More of one answer is not counted: a network may always wait for one, however large. */
const MOST_COUNTED = 12 * 1024 * 1024;

export function createUnsentAnswers({
  underWay = { count: 0, sending: 0 },
  counted = createBufferedBodies(),
  least = LEAST_PACE,
}: UnsentAnswersOptions = {}): UnsentAnswers {
  return {
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
      await sendOn(res, unsent, client, new Patience(least), (bytes) => {
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

/**
 * uWebSockets.js closes a connection whose client has made no room for 10 s, and hears of room only when a third of the system's
 * buffer is free: on a slow line that takes longer. Each attempt takes what room there is.
 */
const ATTEMPT_MS = 4_000;

/** Resolves to whether all was taken; else the client is gone, or has been too slow. `taken` is called with the bytes that it takes. */
export async function sendOn(
  res: HttpResponse,
  { bytes, total, closes = false }: Unsent,
  client: AnsweredClient,
  patience: Patience,
  taken: (bytes: number) => void,
): Promise<boolean> {
  let wake = nothing;
  client.onGone = () => wake();
  res.onWritable(() => {
    wake();
    return true;
  });
  for (let rest = bytes; ; ) {
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const since = performance.now();
    const timer = setTimeout(wake, Math.min(patience.leftMs, ATTEMPT_MS));
    if (!client.aborted) await woken;
    clearTimeout(timer);
    if (client.aborted) return false;
    patience.waited(performance.now() - since);
    const before = res.getWriteOffset();
    if (closes) res.pause(); // a write that fails has the connection read again
    let isTaken = true;
    const offered = rest;
    res.cork(() => {
      [isTaken] = res.tryEnd(offered, total);
    });
    const written = isTaken ? rest.byteLength : res.getWriteOffset() - before;
    patience.took(written);
    taken(written);
    if (isTaken) return true;
    if (patience.leftMs === 0) {
      res.close();
      return false;
    }
    rest = rest.subarray(written);
  }
}

function clientOf(res: HttpResponse): AnsweredClient {
  const client = { aborted: false, onGone: nothing };
  res.onAborted(() => {
    client.aborted = true;
    client.onGone();
  });
  return client;
}

function nothing(): void {}
