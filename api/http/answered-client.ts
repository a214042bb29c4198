/** The client of an answer in progress: whether it has disconnected, and when its connection has room again. */
import type { HttpResponse } from 'uWebSockets.js';
import type { Patience } from './reader-pace.ts';

export interface AnsweredClient {
  aborted: boolean;
  onGone: () => void;
}

/** Call it before the first await of the request. */
export function clientOf(res: HttpResponse): AnsweredClient {
  const client = { aborted: false, onGone: () => {} };
  res.onAborted(() => {
    client.aborted = true;
    client.onGone();
  });
  return client;
}

/** The reader of an answer that the connection does not take at once. */
export interface Reader {
  readonly client: AnsweredClient;
  readonly patience: Patience;
  /** Resolves when the connection has room, the client is gone, it is time for another attempt, or the patience is over. */
  untilRoom(): Promise<void>;
}

/**
 * uWebSockets.js closes a connection whose client makes no room for 10 s, but is notified of room only when a third of the system's buffer
 * is free, which takes longer on a slow line. Each attempt fills the room that there is and restarts those 10 s.
 */
const ATTEMPT_MS = 4_000;

/** Call it once for each answer: a writable handler registered from within the previous one is ignored by uWebSockets.js 20. */
export function readerOf(res: HttpResponse, client: AnsweredClient, patience: Patience): Reader {
  let wake = () => {};
  client.onGone = () => wake();
  res.onWritable(() => {
    wake();
    return true;
  });
  return {
    client,
    patience,
    async untilRoom() {
      const since = performance.now();
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const late = setTimeout(wake, Math.min(patience.leftMs, ATTEMPT_MS));
      if (!client.aborted) await woken;
      clearTimeout(late);
      patience.waited(performance.now() - since);
    },
  };
}
