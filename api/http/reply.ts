/** Writes answers to the socket. */
import type { HttpResponse } from 'uWebSockets.js';
import { type HeaderLines, joinLines } from './header-lines.ts';
import type { UnsentAnswers } from './unsent-answers.ts';

export interface Reply {
  readonly status: number;
  readonly headers: HeaderLines;
  /** `headers` as bytes, from `composedHead`, for an answer that is sent again and again. */
  readonly head?: Uint8Array;
  /** Null for a status without a body (204, 304). */
  readonly body: Uint8Array | null;
  /** Bytes sent after a cached, shared body. */
  readonly end?: string | undefined;
  /** Streamed instead of a body. */
  readonly stream?: AsyncIterable<Uint8Array>;
  /** Whether the charge is kept although the request failed: its work ran into a limit. */
  readonly isPaid?: boolean;
  /** Whether the connection is closed after this answer. */
  readonly closes?: boolean;
  /** Whether the body stays in memory for the life of the process, so that unread bytes are not counted. */
  readonly isLasting?: boolean;
}

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'No Content',
  206: 'Partial Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Payload Too Large',
  416: 'Range Not Satisfiable',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

/** Scripts of any site may read every answer. */
const ALLOW_ORIGIN = 'Access-Control-Allow-Origin';
const ANY_ORIGIN =
  '*\r\nAccess-Control-Expose-Headers: ETag, Retry-After, X-Request-Id, X-Chain-State, Provisional-Since, Marks, Link, Content-Range, Accept-Ranges, X-Next-Cursor, RateLimit-Policy, RateLimit, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Credits-Cost';

export const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-None-Match, Last-Event-ID, X-API-Key, X-Request-Id',
  'Access-Control-Max-Age': '3600',
} as const;

/** Writes all lines in one call: uWebSockets.js writes a value unchanged, including its line breaks. */
export function writeHead(res: HttpResponse, status: number, headers: HeaderLines): void {
  writeStatus(res, status);
  res.writeHeader(ALLOW_ORIGIN, ANY_ORIGIN + headers);
}

function writeStatus(res: HttpResponse, status: number): void {
  if (status !== 200) res.writeStatus(`${status} ${REASONS[status] ?? ''}`.trimEnd());
}

/** Composes the lines of an answer and those of every answer as bytes: a string would be joined and converted at each request. */
export const composedHead = (headers: HeaderLines): Uint8Array => Buffer.from(ANY_ORIGIN + headers);

function writeComposedHead(res: HttpResponse, status: number, head: Uint8Array, own: HeaderLines): void {
  writeStatus(res, status);
  res.writeHeader(ALLOW_ORIGIN, head);
  if (own === '') return;
  const colon = own.indexOf(': ');
  res.writeHeader(own.slice(LINE_BREAK.length, colon), own.slice(colon + 2));
}

const LINE_BREAK = '\r\n';

/** The network that an answer is sent to. */
export interface AnsweredNetwork {
  readonly network: string;
}

/** A larger last answer of a connection is sent as the client reads it, like every other answer. */
const MOST_COPIED = 64 * 1024;

/**
 * Call it in the callback of the request, which uWebSockets.js corks. `own`: lines of this request. `withoutBody`: a HEAD request, which
 * gets only the length. `unsent` sends the bytes that the connection does not take at once.
 */
export function writeReply(
  res: HttpResponse,
  reply: Reply,
  own: HeaderLines,
  withoutBody: boolean,
  unsent: UnsentAnswers,
  visitor: AnsweredNetwork,
): void {
  const { body, end, closes = false, isLasting = false } = reply;
  if (body === null || withoutBody || (body.byteLength === 0 && end === undefined)) {
    writeWithoutBody(res, reply, own, unsent);
    return;
  }
  const whole = end === undefined ? body : joined(body, end);
  const total = whole.byteLength;
  if (closes && total <= MOST_COPIED) {
    writeWhole(res, reply, own, whole);
    return;
  }
  writeHeadOf(res, reply, own);
  if (closes) {
    res.writeHeader('Connection', 'close');
    res.pause();
  }
  if (res.tryEnd(whole, total)[1]) return;
  const left = whole.subarray(res.getWriteOffset());
  const bytes = end === undefined ? left : Buffer.from(left);
  void unsent.send(res, { bytes, total, closes, isLasting }, visitor.network);
}

/** Like `writeReply`, for any time after the callback. */
export function writeReplyLater(res: HttpResponse, ...answer: Tail<Parameters<typeof writeReply>>): void {
  res.cork(() => writeReply(res, ...answer));
}

type Tail<List extends readonly unknown[]> = List extends readonly [unknown, ...infer Rest] ? Rest : never;

/** Writes only the head; with the length of the body, for a HEAD request. */
export function writeWithoutBody(res: HttpResponse, reply: Reply, own: HeaderLines, unsent: UnsentAnswers): void {
  writeHeadOf(res, reply, own);
  if (reply.closes) {
    // endWithoutBody() does not close the connection.
    res.end('', true);
    return;
  }
  // A length passed to endWithoutBody() would make uWebSockets.js wait for the body and close the connection at the next request.
  if (reply.body !== null) res.writeHeader('Content-Length', String(reply.body.byteLength));
  endHead(res, unsent);
}

/** Ends an answer without a body, after its last line. */
export function endHead(res: HttpResponse, unsent: Pick<UnsentAnswers, 'endsConnection'>): void {
  if (unsent.endsConnection()) endConnection(res);
  else res.endWithoutBody();
}

/** A client that has received its answer closes the connection before this time. */
const CLOSING_MS = 1_000;

/** Completes the head for the client but not for uWebSockets.js, which therefore closes the connection at the next request. */
function endConnection(res: HttpResponse): void {
  const closing = setTimeout(() => res.close(), CLOSING_MS);
  res.onAborted(() => clearTimeout(closing));
  res.writeHeader('Connection', `close${LINE_BREAK}`);
}

/** Writes a small last answer of a connection: uWebSockets.js copies the bytes that are not taken at once. */
export function writeWhole(res: HttpResponse, reply: Reply, own: HeaderLines, body: Uint8Array): void {
  writeHeadOf(res, reply, own);
  res.end(body, true);
}

function writeHeadOf(res: HttpResponse, { status, headers, head }: Reply, own: HeaderLines): void {
  if (head === undefined) writeHead(res, status, joinLines(headers, own));
  else writeComposedHead(res, status, head, own);
}

const MOST_JOINED = 1024 * 1024;
let scratch = Buffer.alloc(64 * 1024);

/** Joins in shared memory, valid until the next call, so that cached bodies need no new memory. The caller copies bytes that stay unsent. */
function joined(body: Uint8Array, end: string): Uint8Array {
  const length = body.byteLength + Buffer.byteLength(end);
  if (length > MOST_JOINED) return Buffer.concat([body, Buffer.from(end)]);
  if (length > scratch.length) scratch = Buffer.alloc(Math.min(2 * length, MOST_JOINED));
  scratch.set(body);
  scratch.write(end, body.byteLength);
  return scratch.subarray(0, length);
}
