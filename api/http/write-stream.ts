/** Writes a streamed answer, no faster than the client reads; disconnects a client that reads too slowly. */
import type { HttpResponse } from 'uWebSockets.js';
import { setImmediate } from 'node:timers/promises';
import { type AnsweredClient, type Reader, readerOf } from './answered-client.ts';
import { type HeaderLines, joinLines } from './header-lines.ts';
import type { HeldAnswer } from './held-answers.ts';
import { LEAST_PACE, type LeastPace, Patience } from './reader-pace.ts';
import { type AnsweredNetwork, endHead, type Reply, writeHead } from './reply.ts';
import type { UnsentAnswers } from './unsent-answers.ts';

/**
 * A piece and its chunk size line fit the 16 kB that uWebSockets.js corks. Version 20 drops a larger piece when the connection has no room left
 * for the line before it.
 */
export const PIECE_BYTES = 15 * 1024;
/** Piece to probe whether uWebSockets.js has sent its copy: it must have, or each piece would be added to the unsent rest of earlier pieces. */
const PROBE_BYTES = 1024;

/**
 * The last bytes of a chunk wait for the next chunk, so that at the end of the stream bytes remain for probing whether everything before has
 * been sent: more bytes than attempts until the reader counts as too slow.
 */
const HELD_BACK_BYTES = 16;

/**
 * Resolves when all is written, or the client left or was too slow. A failure closes the connection in the middle of the body, which every client
 * notices: the status has already been sent. @throws what the stream throws
 */
export async function writeStream(
  res: HttpResponse,
  reply: Reply,
  own: HeaderLines,
  stream: AsyncIterable<Uint8Array>,
  client: AnsweredClient,
  unsent: Pick<UnsentAnswers, 'hold' | 'endsConnection'>,
  { network }: AnsweredNetwork,
  least: LeastPace = LEAST_PACE,
): Promise<void> {
  await setImmediate(); // the callback of the request may have corked something already
  if (client.aborted) return;
  const close = () => {
    if (!client.aborted) res.close();
  };
  const held = unsent.hold(network, close);
  res.cork(() => writeHead(res, reply.status, joinLines(reply.headers, own)));
  try {
    const rest = await writeAll(res, stream, readerOf(res, client, new Patience(least)), held);
    if (client.aborted) return;
    res.cork(() => {
      if (rest.byteLength > 0) res.end(rest);
      else endEmpty(res, unsent);
    });
  } catch (error) {
    close();
    throw error;
  } finally {
    held.release();
  }
}

/** Resolves to the last bytes, still unwritten, once all bytes before them are taken; to no bytes for an empty stream. */
async function writeAll(
  res: HttpResponse,
  stream: AsyncIterable<Uint8Array>,
  { client, patience, untilRoom }: Reader,
  held: HeldAnswer,
): Promise<Uint8Array> {
  let isTaken = true;
  let heldBack = Buffer.alloc(0);

  function write(piece: Uint8Array): void {
    res.cork(() => {
      isTaken = res.write(piece);
    });
    patience.took(piece.byteLength);
  }

  async function waitForRoom(): Promise<void> {
    await untilRoom();
    if (patience.leftMs === 0 && !client.aborted) res.close();
  }

  for await (const chunk of stream) {
    if (chunk.byteLength === 0) continue;
    const end = chunk.byteLength - HELD_BACK_BYTES;
    for (let at = 0; heldBack.length > 0 || at < end; ) {
      if (client.aborted) return heldBack;
      const most = (isTaken ? PIECE_BYTES : PROBE_BYTES) - heldBack.length;
      const piece = chunk.subarray(at, Math.max(at, Math.min(end, at + most)));
      write(heldBack.length > 0 ? Buffer.concat([heldBack, piece]) : piece);
      heldBack = heldBack.subarray(heldBack.length);
      at += piece.byteLength;
      if (isTaken) continue;
      held.keep(chunk.buffer.byteLength); // a part of a text keeps the whole text in memory
      await waitForRoom();
    }
    heldBack = Buffer.from(chunk.subarray(Math.max(0, end)));
    held.keep(isLastOfText(chunk) ? 0 : chunk.buffer.byteLength); // the next part may have to wait for credits
  }
  for (; heldBack.length > 1 && !client.aborted; ) {
    write(heldBack.subarray(0, 1));
    heldBack = heldBack.subarray(1);
    if (isTaken) break;
    await waitForRoom();
  }
  return heldBack;
}

const isLastOfText = ({ buffer, byteOffset, byteLength }: Uint8Array) => byteOffset + byteLength === buffer.byteLength;

function endEmpty(res: HttpResponse, unsent: Pick<UnsentAnswers, 'endsConnection'>): void {
  res.writeHeader('Content-Length', '0');
  endHead(res, unsent);
}
