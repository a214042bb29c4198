/** Puts the route table on the wire: parameters, conditional requests, prepared answers, errors, metrics, logs. */

import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import type { Tier } from '../../schemas/config.ts';
import type { Access } from '../access/access.ts';
import { type Admission, type Caller, LEAST_CREDITS, laneOf } from '../access/gate.ts';
import type { Lane } from '../access/lanes.ts';
import type { Visitor } from '../access/visitor.ts';
import type { ApiContext } from '../api-context.ts';
import { type AnswerOptions, answerRoute, type Question } from './answer-route.ts';
import { ApiError } from './api-error.ts';
import { compileBody } from './json-body.ts';
import { compileParameters } from './parameters.ts';
import { problemReply } from './problem-reply.ts';
import { readBody } from './read-body.ts';
import { CORS_HEADERS, PREFLIGHT_HEADERS, type Reply, writeReply } from './reply.ts';
import { observeRequest } from './request-seconds.ts';
import { methodOf, type Route } from './route.ts';
import { andThen, orElse, type Soon } from './soon.ts';
import { type Connection, writeStream } from './write-stream.ts';

/** Counts requests under way, so that a shutdown can wait for them. */
export interface RequestsUnderWay {
  count: number;
}

export interface DispatcherOptions extends AnswerOptions {
  /** By the caller's lane. */
  readonly apis: Readonly<Record<Lane, ApiContext>>;
  readonly underWay: RequestsUnderWay;
  readonly access: Pick<Access, 'gate' | 'readVisitor'>;
}

/** How a request is accounted for. */
export interface Account {
  /** The route's path, never the address asked for. */
  readonly template: string;
  readonly credits: number;
  /** Lowest that may ask; anybody when it is not given. */
  readonly tier?: Tier | null;
  readonly takesBody?: boolean;
  /** Answered even while nobody can say what the caller has used. */
  readonly vital?: boolean;
  /** HEAD: the headers alone. */
  readonly head?: boolean;
}

/** How a request is answered once it was let in; the body is there when the account takes one. */
export type AnswerQuestion = (asked: Question, caller: Caller, body: Buffer) => Soon<Reply>;

/** A REST body says a name or an address. */
const MAX_BODY_BYTES = 64 * 1024;
const NO_BODY = Buffer.alloc(0);
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

export function registerRoutes(app: TemplatedApp, routes: readonly Route[], options: DispatcherOptions): void {
  for (const [path, atPath] of Map.groupBy(routes, (route) => route.path)) {
    const methods = atPath.map(methodOf);
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
    const refused = { template: path, credits: LEAST_CREDITS };
    const refuse = refuseMethod(allow);
    for (const pattern of bothForms(path)) {
      for (const route of atPath) registerRoute(app, pattern, route, options);
      app.options(pattern, (res) => preflight(res, allow));
      app.any(pattern, (res, req) => handleRequest(options, res, req, refused, refuse));
    }
  }
}

function registerRoute(app: TemplatedApp, pattern: string, route: Route, options: DispatcherOptions): void {
  const { path: template, weight: credits, tier, vital = false } = route;
  const names = [...template.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const chains = options.api.config.chains.map((chain) => chain.name);
  const parameters = compileParameters(route.parameters, chains);
  const readJson = route.cache === 'none' && route.body ? compileBody(route.body) : null;
  const account = { template, credits, tier, vital, takesBody: readJson !== null };
  const answer: AnswerQuestion = (asked, caller, body) => {
    const path = Object.fromEntries(names.map((name, index) => [name, decodePart(asked.parts[index] ?? '')]));
    const params = parameters.read(path, asked.query);
    const api = options.apis[laneOf(caller)];
    return answerRoute({ api, prepared: options.prepared }, route, params, asked, { caller, body: readJson?.(body) });
  };
  const serve = (head: boolean) => (res: HttpResponse, req: HttpRequest) =>
    handleRequest(options, res, req, { ...account, head }, answer);
  const method = methodOf(route);
  if (method === 'DELETE') app.del(pattern, serve(false));
  else if (method === 'POST') app.post(pattern, serve(false));
  else if (method === 'PATCH') app.patch(pattern, serve(false));
  else {
    app.get(pattern, serve(false));
    app.head(pattern, serve(true));
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

const refuseMethod =
  (allow: string) =>
  (asked: Question): Promise<Reply> => {
    const message = `${asked.method.toUpperCase()} is not served here, only ${allow} are`;
    throw new ApiError('method_not_allowed', message, { headers: { Allow: allow } });
  };

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
  answer: AnswerQuestion,
): void {
  const { api, underWay, access } = options;
  const { template, head = false } = account;
  const started = performance.now();
  const visitor = access.readVisitor(res, req);
  const spend = async (credits: number) =>
    (await access.gate.rest(visitor, { credits, tier: null, requests: 0 })).refusal;
  const asked = readQuestion(req, template, spend);
  const connection: Connection = { aborted: false, onGone: () => {} };
  const gone = () => {
    connection.aborted = true;
    connection.onGone();
  };
  const body = account.takesBody ? readBody(res, MAX_BODY_BYTES, gone) : NO_BODY;
  if (!account.takesBody) res.onAborted(gone);
  underWay.count += 1;
  const finished = (reply: Reply): void => {
    const status = connection.aborted ? 499 : reply.status;
    const seconds = (performance.now() - started) / 1000;
    observeRequest(template, asked.method, status, seconds);
    api.logger.debug({ requestId: asked.requestId, method: asked.method, route: template, status, seconds }, 'request');
    underWay.count -= 1;
  };
  const write = (made: Reply): Soon<void> => {
    const reply = { ...made, also: [...(made.also ?? []), CORS_HEADERS, { 'X-Request-Id': asked.requestId }] };
    if (!reply.stream || head) {
      if (!connection.aborted) writeReply(res, reply, head);
      return finished(reply);
    }
    return writeStream(res, reply, reply.stream, connection)
      .catch((err: unknown) => {
        api.logger.warn({ err, requestId: asked.requestId }, 'a stream ended before its end');
      })
      .then(() => finished(reply));
  };
  const answered = (question: Question, caller: Caller): Soon<Reply> =>
    andThen(body, (bytes) => {
      if (bytes === 'aborted') throw new ApiError('invalid_request', 'the client went before its body was whole');
      if (bytes === 'too large') throw new ApiError('payload_too_large', `a body may have ${MAX_BODY_BYTES} bytes`);
      return answer(question, caller, bytes);
    });
  void andThen(produce(options, asked, visitor, account, answered), write);
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

/** Charged before the work, given back when it fails through our fault. */
function produce(
  { api, access }: DispatcherOptions,
  asked: Question,
  visitor: Visitor,
  { credits, tier = null, vital }: Account,
  answer: (asked: Question, caller: Caller) => Soon<Reply>,
): Soon<Reply> {
  const problem = (error: unknown): Reply => problemReply(error, asked, api.logger);
  const answered = (caller: Caller) => orElse(() => answer(asked, caller), problem);
  const admitted = (admission: Admission): Soon<Reply> => {
    const { refusal, headers, caller } = admission;
    if (refusal) return withHeaders(problem(refusal), headers);
    return andThen(answered(caller), (reply) => {
      if (reply.status >= 500) admission.giveBack();
      return withHeaders(reply, headers);
    });
  };
  const charged = orElse<Admission | { readonly failure: unknown }>(
    () => access.gate.rest(visitor, { credits, tier }),
    (failure) => ({ failure }),
  );
  return andThen(charged, (admission) => {
    if (!('failure' in admission)) return admitted(admission);
    return vital ? answered({ ...visitor, key: null }) : problem(admission.failure);
  });
}

function withHeaders(reply: Reply, headers: Admission['headers']): Reply {
  return { ...reply, also: [headers, ...(reply.also ?? [])] };
}
