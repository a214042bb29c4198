/** Writes an answer that flows: no faster than it is read. */
import type { HttpResponse } from 'uWebSockets.js';
import { type HeaderLines, joinLines } from './header-lines.ts';
import { type Reply, writeHead } from './reply.ts';

/** Tells that the client is gone; set before the first await of the request. */
export interface StreamClient {
  aborted: boolean;
  onGone: () => void;
}

/**
 * Resolves when all is written or the client is gone. What fails on the way ends the connection in the middle of the body,
 * which every client sees: the status is long sent. @throws what the stream throws
 */
export async function writeStream(
  res: HttpResponse,
  reply: Reply,
  own: HeaderLines,
  stream: AsyncIterable<Uint8Array>,
  connection: StreamClient,
): Promise<void> {
  let wake = () => {};
  connection.onGone = () => wake();
  res.onWritable(() => {
    wake();
    return true;
  });
  res.cork(() => writeHead(res, reply.status, joinLines(reply.headers, own)));
  try {
    for await (const chunk of stream) {
      if (connection.aborted) return;
      if (chunk.byteLength === 0) continue;
      const drained = new Promise<void>((resolve) => {
        wake = resolve;
      });
      let isTaken = true;
      res.cork(() => {
        isTaken = res.write(chunk);
      });
      if (!isTaken) await drained;
    }
  } catch (error) {
    if (!connection.aborted) res.close();
    throw error;
  }
  if (!connection.aborted) res.cork(() => res.end());
}
