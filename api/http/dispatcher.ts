/** Puts the route table on the wire: parameters, conditional requests, prepared answers, errors, metrics, logs. */

import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { metrics } from '../../infra/metrics.ts';
import type { Access } from '../access/access.ts';
import type { Admission } from '../access/gate.ts';
import type { Visitor } from '../access/visitor.ts';
import type { ApiContext } from '../api-context.ts';
import { type AnswerOptions, answerRoute, type Question } from './answer-route.ts';
import { ApiError } from './api-error.ts';
import { compileParameters } from './parameters.ts';
import { problemReply } from './problem-reply.ts';
import { CORS_HEADERS, PREFLIGHT_HEADERS, type Reply, writeReply } from './reply.ts';
import type { Route } from './route.ts';
import { type Connection, writeStream } from './write-stream.ts';

/** Counts requests under way, so that a shutdown can wait for them. */
export interface RequestsUnderWay {
  count: number;
}

export interface DispatcherOptions extends AnswerOptions {
  readonly underWay: RequestsUnderWay;
  readonly access: Pick<Access, 'gate' | 'readVisitor'>;
}

/** How a request is accounted for. */
export interface Account {
  /** The route's path, never the address asked for. */
  readonly template: string;
  readonly credits: number;
  /** Answered even while nobody can say what the caller has used. */
  readonly vital?: boolean;
  /** HEAD: the headers alone. */
  readonly head?: boolean;
}

/** Of what is refused before any work. */
export const LEAST_CREDITS = 1;

const ALLOW = 'GET, HEAD, OPTIONS';
const METHODS = new Set(['get', 'head', 'post', 'put', 'patch', 'delete', 'options']);
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

export function registerRoutes(app: TemplatedApp, routes: readonly Route[], options: DispatcherOptions): void {
  const chains = options.api.config.chains.map((chain) => chain.name);
  for (const route of routes) {
    const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
    const reader = compileParameters(route.parameters, chains);
    const { path: template, weight: credits, vital = false } = route;
    const refused = { template, credits: LEAST_CREDITS };
    const serve = (res: HttpResponse, req: HttpRequest, head: boolean) =>
      handleRequest(options, res, req, { template, credits, vital, head }, (asked) => {
        const path = Object.fromEntries(names.map((name, index) => [name, decodePart(asked.parts[index] ?? '')]));
        return answerRoute(options, route, reader.read(path, asked.query), asked);
      });
    for (const pattern of bothForms(route.path)) {
      app.get(pattern, (res, req) => serve(res, req, false));
      app.head(pattern, (res, req) => serve(res, req, true));
      app.options(pattern, (res) => preflight(res, ALLOW));
      app.any(pattern, (res, req) => handleRequest(options, res, req, refused, refuseMethod));
    }
  }
}

/** What no route matches. */
export function registerFallback(app: TemplatedApp, options: DispatcherOptions): void {
  const answer = (asked: Question) => {
    throw new ApiError('not_found', `there is no ${asked.url}: /api/ lists what there is`);
  };
  app.any('/*', (res, req) => {
    const account = { template: 'none', credits: LEAST_CREDITS, head: req.getMethod() === 'head' };
    handleRequest(options, res, req, account, answer);
  });
}

export function preflight(res: HttpResponse, allow: string): void {
  const headers = { ...CORS_HEADERS, ...PREFLIGHT_HEADERS, 'Access-Control-Allow-Methods': allow, Allow: allow };
  writeReply(res, { status: 204, headers, body: null }, false);
}

function refuseMethod(asked: Question): Promise<Reply> {
  const message = `${asked.method.toUpperCase()} is not served here, only GET and HEAD are`;
  throw new ApiError('method_not_allowed', message, { headers: { Allow: ALLOW } });
}

function bothForms(path: string): string[] {
  const bare = path.replace(/\/$/, '');
  return [bare, `${bare}/`];
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ApiError('invalid_request', `${JSON.stringify(part)} is no percent-encoded UTF-8`);
  }
}

const nothingMore = async () => null;

/** Everything of `req` is read before the first await: it is gone afterwards. */
function readQuestion(req: HttpRequest, template: string, charge: Question['charge'] = nothingMore): Question {
  const parameters = template.split('/').filter((part) => part.startsWith(':'));
  const parts = parameters.map((_, index) => req.getParameter(index) ?? '');
  const given = req.getHeader('x-request-id');
  return {
    method: req.getMethod(),
    url: req.getUrl(),
    query: req.getQuery() ?? '',
    parts,
    ifNoneMatch: req.getHeader('if-none-match'),
    accept: req.getHeader('accept'),
    acceptEncoding: req.getHeader('accept-encoding'),
    charge,
    requestId: REQUEST_ID.test(given) ? given : randomUUID(),
  };
}

/** Answers one request and accounts for it. */
export function handleRequest(
  options: DispatcherOptions,
  res: HttpResponse,
  req: HttpRequest,
  account: Account,
  answer: (asked: Question) => Promise<Reply>,
): void {
  const { api, underWay, access } = options;
  const { template, head = false } = account;
  const started = performance.now();
  const visitor = access.readVisitor(res, req);
  const asked = readQuestion(req, template, async (credits) => (await access.gate.rest(visitor, credits)).refusal);
  const connection: Connection = { aborted: false, onGone: () => {} };
  res.onAborted(() => {
    connection.aborted = true;
    connection.onGone();
  });
  underWay.count += 1;
  void produce(options, asked, visitor, account, answer)
    .then(async (made) => {
      const reply = { ...made, headers: { ...made.headers, ...CORS_HEADERS, 'X-Request-Id': asked.requestId } };
      if (reply.stream && !head) {
        await writeStream(res, reply, reply.stream, connection).catch((err: unknown) => {
          api.logger.warn({ err, requestId: asked.requestId }, 'a stream ended before its end');
        });
      } else if (!connection.aborted) writeReply(res, reply, head);
      const seconds = (performance.now() - started) / 1000;
      const status = connection.aborted ? 499 : reply.status;
      metrics.requestSeconds.observe(
        { route: template, method: methodLabel(asked.method), status: String(status) },
        seconds,
      );
      api.logger.debug(
        { requestId: asked.requestId, method: asked.method, route: template, status, seconds },
        'request',
      );
    })
    .finally(() => {
      underWay.count -= 1;
    });
}

/** For what answers otherwise than by a Reply: how it is refused. Called before the first await. */
export function problemTo({ api }: DispatcherOptions, res: HttpResponse, req: HttpRequest, template: string) {
  const asked = readQuestion(req, template);
  return (error: unknown, limits: Admission['headers']): void => {
    const reply = problemReply(error, asked, api.logger);
    const headers = { ...reply.headers, ...limits, ...CORS_HEADERS, 'X-Request-Id': asked.requestId };
    writeReply(res, { ...reply, headers }, false);
  };
}

/** A method is any word that a client sends; a label must not be. */
function methodLabel(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

/** Charged before the work, given back when it fails through our fault. */
async function produce(
  { api, access }: DispatcherOptions,
  asked: Question,
  visitor: Visitor,
  { credits, vital }: Account,
  answer: (asked: Question) => Promise<Reply>,
): Promise<Reply> {
  let admission: Admission | null = null;
  try {
    admission = await access.gate.rest(visitor, credits);
  } catch (error) {
    if (!vital) return problemReply(error, asked, api.logger);
  }
  if (admission?.refusal) return withHeaders(problemReply(admission.refusal, asked, api.logger), admission);
  const reply = await answerOrProblem(asked, answer, api);
  if (admission === null) return reply;
  if (reply.status >= 500) admission.giveBack();
  return withHeaders(reply, admission);
}

async function answerOrProblem(
  asked: Question,
  answer: (asked: Question) => Promise<Reply>,
  api: ApiContext,
): Promise<Reply> {
  try {
    return await answer(asked);
  } catch (error) {
    return problemReply(error, asked, api.logger);
  }
}

function withHeaders(reply: Reply, { headers }: Admission): Reply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}
