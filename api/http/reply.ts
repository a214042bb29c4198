/** Writes an answer to the socket; nothing here knows what it says. */
import type { HttpResponse } from 'uWebSockets.js';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** More headers, of other names: not merged into the first, which costs more than to write them. */
  readonly also?: readonly Readonly<Record<string, string>>[];
  /** Null: a status that has no body (204, 304). */
  readonly body: Uint8Array | null;
  /** What flows instead of a body. */
  readonly stream?: AsyncIterable<Uint8Array>;
}

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Payload Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

export const CORS_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'ETag, Retry-After, X-Request-Id, X-Chain-State, RateLimit-Policy, RateLimit, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Credits-Cost',
} as const;

export const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-None-Match, Last-Event-ID, X-API-Key, X-Request-Id',
  'Access-Control-Max-Age': '3600',
} as const;

export function writeHead(res: HttpResponse, { status, headers, also = [] }: Omit<Reply, 'body'>): void {
  res.writeStatus(`${status} ${REASONS[status] ?? ''}`.trimEnd());
  writeHeaders(res, headers);
  for (const more of also) writeHeaders(res, more);
}

function writeHeaders(res: HttpResponse, headers: Reply['headers']): void {
  for (const name in headers) res.writeHeader(name, headers[name] ?? '');
}

/** `withoutBody`: a HEAD request, which is told the length only. */
export function writeReply(res: HttpResponse, reply: Reply, withoutBody: boolean): void {
  res.cork(() => {
    writeHead(res, reply);
    if (reply.body !== null && !withoutBody) {
      res.end(reply.body);
      return;
    }
    // Not by the argument of endWithoutBody: uWebSockets.js then waits for the body and closes at the next request.
    if (reply.body !== null) res.writeHeader('Content-Length', String(reply.body.byteLength));
    res.endWithoutBody();
  });
}
