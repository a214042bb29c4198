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

/** Returns what waits until the connection has room, the client is gone, or neither came in `mostMs` or as long as the patience lasts. */
export function roomOf(
  res: HttpResponse,
  client: AnsweredClient,
  patience: Patience,
  mostMs = Number.POSITIVE_INFINITY,
): () => Promise<void> {
  let wake = () => {};
  client.onGone = () => wake();
  res.onWritable(() => {
    wake();
    return true;
  });
  return async () => {
    const since = performance.now();
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const late = setTimeout(wake, Math.min(patience.leftMs, mostMs));
    if (!client.aborted) await woken;
    clearTimeout(late);
    patience.waited(performance.now() - since);
  };
}
