/** Writes an answer that flows: no faster than it is read, and at a least pace. */
import type { HttpResponse } from 'uWebSockets.js';
import { setImmediate } from 'node:timers/promises';
import { type AnsweredClient, readerOf } from './answered-client.ts';
import { type HeaderLines, joinLines } from './header-lines.ts';
import { LEAST_PACE, type LeastPace, Patience } from './reader-pace.ts';
import { type Reply, writeHead } from './reply.ts';

/**
 * With the line of its size it fits the 16 kB that uWebSockets.js corks. Version 20 drops a piece that does not, where the connection has no
 * room left for the line before it.
 */
export const PIECE_BYTES = 15 * 1024;
/** Written to learn whether the copy has been taken: it must, or each piece would be added to what is left of those before. */
const PROBE_BYTES = 1024;

/**
 * Resolves when all is written or the client is gone or too slow. What fails on the way ends the connection in the middle of the body,
 * which every client sees: the status is long sent. @throws what the stream throws
 */
export async function writeStream(
  res: HttpResponse,
  reply: Reply,
  own: HeaderLines,
  stream: AsyncIterable<Uint8Array>,
  connection: AnsweredClient,
  least: LeastPace = LEAST_PACE,
): Promise<void> {
  await setImmediate(); // the callback of the request may have corked something already
  if (connection.aborted) return;
  const patience = new Patience(least);
  const { untilRoom } = readerOf(res, connection, patience);
  res.cork(() => writeHead(res, reply.status, joinLines(reply.headers, own)));
  let isTaken = true;

  function write(piece: Uint8Array): void {
    res.cork(() => {
      isTaken = res.write(piece);
    });
    patience.took(piece.byteLength);
  }

  try {
    for await (const chunk of stream) {
      for (let at = 0; at < chunk.byteLength; ) {
        if (connection.aborted) return;
        const piece = chunk.subarray(at, at + (isTaken ? PIECE_BYTES : PROBE_BYTES));
        write(piece);
        if (!isTaken) await untilRoom();
        if (patience.leftMs === 0 && !connection.aborted) res.close();
        at += piece.byteLength;
      }
    }
  } catch (error) {
    if (!connection.aborted) res.close();
    throw error;
  }
  if (!connection.aborted) res.cork(() => res.end());
}
