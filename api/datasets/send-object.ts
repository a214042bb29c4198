/** Sends an object or a range of it, with its length, no faster than the client reads. */

import type { HttpResponse } from 'uWebSockets.js';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { readExactly } from '../../infra/read-exactly.ts';
import { type AnsweredClient, readerOf } from '../http/answered-client.ts';
import { type HeaderLines, headerLines } from '../http/header-lines.ts';
import { type LeastPace, Patience } from '../http/reader-pace.ts';
import { type AnsweredNetwork, endHead, writeHead } from '../http/reply.ts';
import { offer, offerToEnd, sendOn, type UnsentAnswers } from '../http/unsent-answers.ts';
import { type ByteRange, byteRange } from './byte-range.ts';
import type { ServedObject } from './served-folder.ts';

export interface ObjectRequest {
  readonly isHead: boolean;
  readonly range: string;
  readonly ifRange: string;
  readonly ifNoneMatch: string;
}

export interface ObjectReply {
  readonly status: 200 | 206 | 304 | 416;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for no body. */
  readonly part: ByteRange | null;
  readonly bytes: number;
  /**
   * Cost in bytes of the allowance. A manifest is made and charged in full even for a range; a small part of a file is charged more than its size,
   * because it takes much more of the shared rate.
   */
  readonly cost: number;
}

/** How fast bytes may be sent, and how fast the client must read them. */
export interface SendingPace {
  /** Resolves when this many bytes of a file may be sent. */
  letGo(bytes: number): Promise<void>;
  readonly least: LeastPace;
}

const CHUNK_BYTES = 1 << 17;
/** An eighth of what a small part takes of the shared rate, because DuckDB reads thousands of small files in several ranges each. */
const LEAST_PART_COST = 1 << 14;

export function objectReply({ tag, size, changedAt, type, content }: ServedObject, asked: ObjectRequest): ObjectReply {
  const etag = `"${tag}"`;
  const headers = {
    ETag: etag,
    'Last-Modified': changedAt.toUTCString(),
    'Accept-Ranges': 'bytes',
    // The bytes under a file's name never change; a manifest does.
    'Cache-Control': 'file' in content ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
  if (asked.ifNoneMatch.split(',').some((sent) => ['*', etag].includes(sent.trim().replace(/^W\//, '')))) {
    return { status: 304, headers, part: null, bytes: 0, cost: 0 };
  }
  const isWhole = asked.ifRange !== '' && asked.ifRange !== etag;
  const range = isWhole ? null : byteRange(asked.range, size);
  if (range === 'unsatisfiable') {
    return { status: 416, headers: { ...headers, 'Content-Range': `bytes */${size}` }, part: null, bytes: 0, cost: 0 };
  }
  const part = range ?? { from: 0, to: size - 1 };
  const own = { ...headers, 'Content-Type': type };
  const bytes = asked.isHead ? 0 : part.to - part.from + 1;
  const wholeCost = 'make' in content ? size : Math.max(bytes, LEAST_PART_COST);
  const cost = asked.isHead ? 0 : wholeCost;
  if (!range) return { status: 200, headers: own, part, bytes, cost };
  return {
    status: 206,
    headers: { ...own, 'Content-Range': `bytes ${part.from}-${part.to}/${size}` },
    part,
    bytes,
    cost,
  };
}

/** Resolves to the number of bytes sent: fewer than requested when the client left. @throws errors of reading the file */
export async function sendObject(
  res: HttpResponse,
  object: ServedObject,
  { status, headers, part }: ObjectReply,
  isHead: boolean,
  client: AnsweredClient,
  own: HeaderLines,
  pace: SendingPace,
  unsent: UnsentAnswers,
  visitor: AnsweredNetwork,
): Promise<number> {
  const lines = (headerLines(headers) + own) as HeaderLines;
  if (client.aborted) return 0;
  if (!part || isHead) {
    res.cork(() => {
      writeHead(res, status, lines);
      // In a 304 this would have to be the length of the 200.
      if (status !== 304) res.writeHeader('Content-Length', String(part ? part.to - part.from + 1 : 0));
      endHead(res, unsent);
    });
    return 0;
  }
  const total = part.to - part.from + 1;
  const { content } = object;
  await pace.letGo('make' in content ? object.size : Math.min(total, CHUNK_BYTES));
  if (client.aborted) return 0;
  if ('make' in content || total <= CHUNK_BYTES) {
    const body = 'make' in content ? partOf(content.make(), part) : await readPart(content.file, part);
    if (client.aborted) return 0;
    let taken = 0;
    res.cork(() => {
      writeHead(res, status, lines);
      taken = offer(res, body, total);
    });
    if (taken === total) return total;
    return taken + (await unsent.send(res, { bytes: body.subarray(taken), total }, visitor.network, client));
  }
  res.cork(() => writeHead(res, status, lines));
  return flow(res, content.file, part, total, client, pace);
}

/** Copies a part, so that a slow client keeps no more in memory than is counted for it. */
const partOf = (made: Buffer, { from, to }: ByteRange): Buffer =>
  to - from + 1 === made.length ? made : Buffer.from(made.subarray(from, to + 1));

/** Reads a small part at once: a stream would cost more than the bytes. @throws Error for a file that is too short */
async function readPart(file: string, { from, to }: ByteRange): Promise<Buffer> {
  const handle = await open(file);
  try {
    return await readExactly(handle, Buffer.allocUnsafe(to - from + 1), from);
  } finally {
    await handle.close();
  }
}

async function flow(
  res: HttpResponse,
  file: string,
  { from, to }: ByteRange,
  total: number,
  client: AnsweredClient,
  pace: SendingPace,
): Promise<number> {
  const reader = readerOf(res, client, new Patience(pace.least));
  let written = 0;
  const taken = (bytes: number) => {
    written += bytes;
  };
  const stream = createReadStream(file, { start: from, end: to, highWaterMark: CHUNK_BYTES });
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (written > 0) await pace.letGo(chunk.length); // the first chunk was admitted with the head
      if (client.aborted) return written;
      const first = offerToEnd(res, chunk, total);
      reader.patience.took(first);
      taken(first);
      if (written === total) return written; // `res` must not be used any more
      if (first === chunk.length) continue;
      if (!(await sendOn(res, { bytes: chunk.subarray(first), total }, reader, taken))) return written;
    }
    return written;
  } catch (error) {
    if (!client.aborted) res.close();
    throw error;
  } finally {
    stream.destroy();
  }
}
