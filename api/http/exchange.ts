/** One request from its headers to its last byte: let in, answered, accounted for. */

import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { randomBytes } from 'node:crypto';
import type { Tier } from '../../schemas/config.ts';
import type { Access } from '../access/access.ts';
import type { Admission, Caller } from '../access/gate.ts';
import type { Visitor } from '../access/visitor.ts';
import type { ApiContext } from '../api-context.ts';
import type { Question } from './answer-route.ts';
import { ApiError } from './api-error.ts';
import { type HeaderLines, NO_LINES } from './header-lines.ts';
import { problemReply } from './problem-reply.ts';
import { readBody } from './read-body.ts';
import { type Reply, writeReply, writeReplyLater } from './reply.ts';
import { observeRequest } from './request-seconds.ts';
import type { Soon } from './soon.ts';
import { type Connection, writeStream } from './write-stream.ts';

/** Counts requests under way, so that a shutdown can wait for them. */
export interface RequestsUnderWay {
  count: number;
}

export interface ExchangeOptions {
  readonly api: Pick<ApiContext, 'logger'>;
  readonly underWay: RequestsUnderWay;
  readonly access: Pick<Access, 'gate' | 'readVisitor'>;
}

/** How a request is accounted for. */
export interface Account {
  /** The route's path, never the address asked for. */
  readonly template: string;
  readonly credits: number;
  /** Lowest that may ask; null = anybody. */
  readonly tier: Tier | null;
  readonly takesBody?: boolean;
  /** Answered even while nobody can say what the caller has used. */
  readonly vital?: boolean;
  /** Where the pattern says them, they are not asked of the request. */
  readonly method?: string;
  readonly url?: string | undefined;
  /** What of the request its answer depends on; nothing else is read. */
  readonly reads?: Reads;
}

interface Reads {
  /** Number of path parameters. */
  readonly parts: number;
  /** Its answer may be one that the client has, or a form of several. */
  readonly conditions?: boolean;
  /** Its answer may flow. */
  readonly streams?: boolean;
  readonly encoding?: boolean;
  readonly host?: boolean;
}

/** How a request is answered once it was let in; the body is there when the account takes one. */
export type AnswerQuestion = (asked: Question, caller: Caller, body: Buffer) => Soon<Reply>;

type Body = Awaited<ReturnType<typeof readBody>>;

/** A request under way. */
interface Exchange extends Connection {
  readonly options: ExchangeOptions;
  readonly res: HttpResponse;
  readonly asked: Question;
  readonly visitor: Visitor;
  readonly account: Account;
  readonly answer: AnswerQuestion;
  /** Empty unless the account takes one. */
  body: Soon<Body>;
  /** Milliseconds of the process' clock. */
  readonly started: number;
  /** What its answer says of the limits. */
  limits: HeaderLines;
}

/** A REST body says a name or an address. */
const MAX_BODY_BYTES = 64 * 1024;
const NO_BODY = Buffer.alloc(0);
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
/** Of this process; the number of the request follows. */
const REQUEST_PREFIX = randomBytes(9).toString('base64url');
let requests = 0;

/** Nothing of `req` is there after the first await. */
function readQuestion(req: HttpRequest, account: Account, charge: Question['charge']): Question {
  const { reads } = account;
  const given = req.getHeader('x-request-id');
  let parts = '';
  for (let index = 0; index < (reads?.parts ?? 0); index++) {
    parts += `${index > 0 ? '/' : ''}${req.getParameter(index) ?? ''}`;
  }
  return {
    method: account.method ?? req.getMethod(),
    url: account.url ?? req.getUrl(),
    query: req.getQuery() ?? '',
    parts,
    host: reads?.host ? req.getHeader('host').toLowerCase() : '',
    ifNoneMatch: reads?.conditions ? req.getHeader('if-none-match') : '',
    accept: reads?.streams ? req.getHeader('accept') : '',
    acceptEncoding: reads?.encoding ? req.getHeader('accept-encoding') : '',
    charge,
    requestId: given !== '' && REQUEST_ID.test(given) ? given : `${REQUEST_PREFIX}-${++requests}`,
  };
}

const nothingMore = async () => null;

/** Answers one request and accounts for it. */
export function handleRequest(
  options: ExchangeOptions,
  res: HttpResponse,
  req: HttpRequest,
  account: Account,
  answer: AnswerQuestion,
): void {
  const { underWay, access } = options;
  const started = performance.now();
  const visitor = access.readVisitor(res, req);
  const asked = readQuestion(req, account, account.reads?.streams ? chargeLater(access, visitor) : nothingMore);
  const exchange: Exchange = {
    options,
    res,
    asked,
    visitor,
    account,
    answer,
    body: NO_BODY,
    started,
    limits: NO_LINES,
    aborted: false,
    onGone: nothing,
  };
  underWay.count += 1;
  if (account.takesBody) exchange.body = readBody(res, MAX_BODY_BYTES, () => leave(exchange));
  const reply = produce(exchange);
  if (!(reply instanceof Promise)) {
    void respond(exchange, reply, writeReply);
    return;
  }
  if (!account.takesBody) res.onAborted(() => leave(exchange));
  void reply.then((made) => respond(exchange, made, writeReplyLater));
}

const nothing = () => {};

function leave(exchange: Exchange): void {
  exchange.aborted = true;
  exchange.onGone();
}

/** For an answer that flows: its caller pays on while it does. */
function chargeLater({ gate }: ExchangeOptions['access'], visitor: Visitor): Question['charge'] {
  void visitor.network; // cannot be read later
  return async (credits) => (await gate.rest(visitor, { credits, tier: null, requests: 0 })).refusal;
}

function respond(exchange: Exchange, reply: Reply, write: typeof writeReply): Soon<void> {
  const { res, asked, aborted } = exchange;
  const withoutBody = asked.method === 'head';
  if (reply.stream && !withoutBody && !aborted) return flow(exchange, reply, reply.stream);
  if (!aborted) write(res, reply, ownLines(exchange), withoutBody);
  finish(exchange, reply);
}

async function flow(exchange: Exchange, reply: Reply, stream: AsyncIterable<Uint8Array>): Promise<void> {
  await writeStream(exchange.res, reply, ownLines(exchange), stream, exchange).catch((err: unknown) => {
    exchange.options.api.logger.warn({ err, requestId: exchange.asked.requestId }, 'a stream ended before its end');
  });
  finish(exchange, reply);
}

/** The id fits REQUEST_ID. */
function ownLines({ limits, asked }: Pick<Exchange, 'limits' | 'asked'>): HeaderLines {
  return `${limits}\r\nX-Request-Id: ${asked.requestId}` as HeaderLines;
}

function finish({ options: { api, underWay }, asked, account, started, aborted }: Exchange, reply: Reply): void {
  const { method, requestId } = asked;
  const { template: route } = account;
  const status = aborted ? 499 : reply.status;
  const seconds = (performance.now() - started) / 1000;
  observeRequest(route, method, status, seconds);
  api.logger.debug({ requestId, method, route, status, seconds }, 'request');
  underWay.count -= 1;
}

/** For what answers otherwise than by a Reply: how it is refused. Called before the first await. */
export function problemTo({ api }: ExchangeOptions, res: HttpResponse, req: HttpRequest, template: string) {
  const asked = readQuestion(req, { template, credits: 0, tier: null }, nothingMore);
  return (error: unknown, limits: HeaderLines): void => {
    const reply = problemReply(error, asked, api.logger);
    writeReplyLater(res, reply, ownLines({ limits, asked }), false);
  };
}

/** Charged before the work, given back when it fails through our fault. */
function produce(exchange: Exchange): Soon<Reply> {
  const { options, visitor, account } = exchange;
  let admission: Soon<Admission>;
  try {
    admission = options.access.gate.rest(visitor, account);
  } catch (failure) {
    return produceUncharged(exchange, failure);
  }
  if (!(admission instanceof Promise)) return produceCharged(exchange, admission);
  return admission.then(
    (admitted) => produceCharged(exchange, admitted),
    (failure) => produceUncharged(exchange, failure),
  );
}

function produceCharged(exchange: Exchange, { caller, refusal, headers, charged }: Admission): Soon<Reply> {
  exchange.limits = headers;
  if (refusal) return problem(exchange, refusal);
  const reply = produceFor(exchange, caller);
  return reply instanceof Promise ? reply.then((made) => settle(made, charged)) : settle(reply, charged);
}

function settle(reply: Reply, charged: Admission['charged']): Reply {
  if (reply.status >= 500) charged.giveBack();
  return reply;
}

/** Nobody can say what the caller has used. */
function produceUncharged(exchange: Exchange, failure: unknown): Soon<Reply> {
  const { account, visitor } = exchange;
  return account.vital ? produceFor(exchange, { bearer: visitor.bearer, key: null }) : problem(exchange, failure);
}

function produceFor(exchange: Exchange, caller: Caller): Soon<Reply> {
  const { asked, answer, body } = exchange;
  if (body instanceof Promise) return produceLater(exchange, caller, body);
  try {
    const reply = answer(asked, caller, wholeBody(body));
    return reply instanceof Promise ? reply.catch((error: unknown) => problem(exchange, error)) : reply;
  } catch (error) {
    return problem(exchange, error);
  }
}

async function produceLater(exchange: Exchange, caller: Caller, body: Promise<Body>): Promise<Reply> {
  try {
    return await exchange.answer(exchange.asked, caller, wholeBody(await body));
  } catch (error) {
    return problem(exchange, error);
  }
}

const problem = ({ asked, options }: Exchange, error: unknown) => problemReply(error, asked, options.api.logger);

/** @throws ApiError when there is none */
function wholeBody(body: Body): Buffer {
  if (body === 'aborted') throw new ApiError('invalid_request', 'the client went before its body was whole');
  if (body === 'too large') throw new ApiError('payload_too_large', `a body may have ${MAX_BODY_BYTES} bytes`);
  return body;
}
