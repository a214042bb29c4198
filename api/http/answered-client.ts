/** The client of an answer that is under way: whether it is gone, and when its connection has room again. */
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

/** The reader of an answer that does not leave at once. */
export interface Reader {
  readonly client: AnsweredClient;
  readonly patience: Patience;
  /** Resolves when the connection has room, the client is gone, it is time for another attempt, or the patience is over. */
  untilRoom(): Promise<void>;
}

/**
 * uWebSockets.js closes a connection whose client has made no room for 10 s, and hears of room only when a third of the system's
 * buffer is free: on a slow line that takes longer. Each attempt takes what room there is, and starts those 10 s again.
 */
const ATTEMPT_MS = 4_000;

/** Once for each answer: uWebSockets.js 20 keeps the old handler where another one is registered while it calls that one. */
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
