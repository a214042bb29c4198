/** Wraps the routes of uWebSockets.js: a request whose end is ambiguous reaches no handler. */
import type { HttpRequest, HttpResponse, TemplatedApp, WebSocketBehavior } from 'uWebSockets.js';
import { ApiError, problemBody } from './api-error.ts';
import { type AnnouncedBody, FramingFault, readFraming } from './framing.ts';
import { headerLines, NO_LINES } from './header-lines.ts';
import { writeWhole } from './reply.ts';
import { requestId } from './request-id.ts';
import { observeRequest } from './request-seconds.ts';

/** `announced`: length of the body that follows the headers. */
export type Handler = (res: HttpResponse, req: HttpRequest, announced: AnnouncedBody) => void;

type Register = (pattern: string, handler: Handler) => void;

export interface FramedRoutes
  extends Readonly<Record<'get' | 'head' | 'post' | 'patch' | 'del' | 'options' | 'any', Register>> {
  ws<UserData>(pattern: string, behavior: WebSocketBehavior<UserData>): void;
}

export function framedRoutes(app: TemplatedApp): FramedRoutes {
  return {
    get: (pattern, handler) => void app.get(pattern, framed(handler)),
    head: (pattern, handler) => void app.head(pattern, framed(handler)),
    post: (pattern, handler) => void app.post(pattern, framed(handler)),
    patch: (pattern, handler) => void app.patch(pattern, framed(handler)),
    del: (pattern, handler) => void app.del(pattern, framed(handler)),
    options: (pattern, handler) => void app.options(pattern, framed(handler)),
    any: (pattern, handler) => void app.any(pattern, framed(handler)),
    ws: (pattern, behavior) => void app.ws(pattern, framedUpgrade(behavior)),
  };
}

const framed = (handler: Handler) => (res: HttpResponse, req: HttpRequest) => {
  const framing = readFraming(req);
  if (framing instanceof FramingFault) refuse(res, req, framing.detail);
  else if (framing === 'chunked' && !TAKES_CHUNKS.test(req.getMethod())) {
    refuse(res, req, 'a chunked body is allowed only with POST, PUT and PATCH');
  } else handler(res, req, framing);
};

const TAKES_CHUNKS = /^(post|put|patch)$/;

function framedUpgrade<UserData>(behavior: WebSocketBehavior<UserData>): WebSocketBehavior<UserData> {
  const { upgrade } = behavior;
  if (!upgrade) return behavior;
  return {
    ...behavior,
    upgrade(res, req, context) {
      const framing = readFraming(req);
      if (framing === 0) upgrade(res, req, context);
      else
        refuse(res, req, framing instanceof FramingFault ? framing.detail : 'an upgrade request must not have a body');
    },
  };
}

/**
 * uWebSockets.js holds small answers back until it has parsed everything that it has read, and would meanwhile serve a request behind this
 * one. An answer that does not fit its buffer of 16 kB is written at once, and end() then closes the connection.
 */
const LEAST_BYTES = 16 * 1024;
const HEADERS = headerLines({ 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' });

function refuse(res: HttpResponse, req: HttpRequest, detail: string): void {
  const problem = JSON.stringify(problemBody(new ApiError('invalid_framing', detail), requestId()));
  observeRequest('none', req.getMethod(), 400, 0);
  const body = Buffer.from(`${problem.padEnd(LEAST_BYTES)}\n`);
  writeWhole(res, { status: 400, headers: HEADERS, body }, NO_LINES, body);
}
