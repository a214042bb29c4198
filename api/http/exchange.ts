/** One request from its headers to its last byte: let in, answered, accounted for. */

import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tier } from '../../schemas/config.ts';
import type { Access } from '../access/access.ts';
import type { Admission, Caller } from '../access/gate.ts';
import type { Visitor } from '../access/visitor.ts';
import type { ApiContext } from '../api-context.ts';
import type { Question } from './answer-route.ts';
import { ApiError } from './api-error.ts';
import type { AnnouncedBody } from './framing.ts';
import { type HeaderLines, NO_LINES } from './header-lines.ts';
import type { HeldBodies } from './held-bodies.ts';
import { problemReply } from './problem-reply.ts';
import { type BodyFailure, IncomingBody } from './read-body.ts';
import { type Reply, writeReply, writeReplyLater } from './reply.ts';
import { requestId } from './request-id.ts';
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
  readonly bodies: HeldBodies;
  /** Milliseconds in which a request is answered, if only by 503. */
  readonly answerMs?: number;
}

/** How a request is accounted for. */
export interface Account {
  /** The route's path, never the address asked for. */
  readonly template: string;
  readonly credits: number;
  /** Lowest that may ask; null = anybody. */
  readonly tier: Tier | null;
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

/** How a request is answered once it was let in, and its body is whole. */
export type AnswerQuestion = (asked: Question, caller: Caller, body: Buffer) => Soon<Reply>;

/** A request under way. */
interface Exchange extends Connection {
  readonly options: ExchangeOptions;
  readonly res: HttpResponse;
  readonly asked: Question;
  readonly visitor: Visitor;
  readonly account: Account;
  readonly answer: AnswerQuestion;
  /** Null when none follows the headers. */
  body: IncomingBody | null;
  /** Milliseconds of the process' clock. */
  readonly started: number;
  /** What its answer says of the limits. */
  limits: HeaderLines;
  /** Whether the request has been answered: an answer that comes later is dropped. */
  isAnswered: boolean;
}

/** A REST body says a name or an address. */
const MAX_BODY_BYTES = 64 * 1024;
const NO_BODY = Buffer.alloc(0);
/** As long as a daemon may take; every other store is given up sooner. */
const ANSWER_MS = 35_000;
/** How long a vital answer waits for whoever counts requests. */
const VITAL_MS = 1_000;

/** Nothing of `req` is there after the first await. */
function readQuestion(req: HttpRequest, account: Account, charge: Question['charge']): Question {
  const { reads } = account;
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
    requestId: requestId(req.getHeader('x-request-id')),
  };
}

const nothingMore = async () => null;

/** Answers one request and accounts for it. */
export function handleRequest(
  options: ExchangeOptions,
  res: HttpResponse,
  req: HttpRequest,
  announced: AnnouncedBody,
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
    body: null,
    started,
    limits: NO_LINES,
    isAnswered: false,
    aborted: false,
    onGone: nothing,
  };
  underWay.count += 1;
  if (announced !== 0) exchange.body = readBody(exchange, announced);
  const reply = produce(exchange);
  if (!(reply instanceof Promise)) {
    void respond(exchange, reply, writeReply);
    return;
  }
  if (!exchange.body) res.onAborted(() => leave(exchange));
  const deadline = setTimeout(() => {
    const { method, url } = asked;
    options.api.logger.error(
      { requestId: asked.requestId, method, url, query: asked.query },
      'a request was not answered in time',
    );
    void respond(exchange, problem(exchange, TOO_SLOW), writeReplyLater);
  }, options.answerMs ?? ANSWER_MS);
  void reply.then((made) => {
    clearTimeout(deadline);
    return respond(exchange, made, writeReplyLater);
  });
}

const TOO_SLOW = new ApiError('too_slow', 'the request was not answered in time');

function readBody(exchange: Exchange, announced: AnnouncedBody): IncomingBody {
  const { res, visitor, options } = exchange;
  return new IncomingBody(res, {
    announced,
    maxBytes: MAX_BODY_BYTES,
    held: options.bodies,
    network: visitor.network,
    aborted: () => leave(exchange),
  });
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

/** Before uWebSockets.js has parsed all that it has read, an answer does not end the connection: what follows would be served. */
function respond(exchange: Exchange, reply: Reply, write: typeof writeReply): Soon<void> {
  if (exchange.isAnswered) return;
  exchange.isAnswered = true;
  const { res, asked, aborted, body } = exchange;
  const withoutBody = asked.method === 'head';
  if (reply.stream && !withoutBody && !aborted) return flow(exchange, reply, reply.stream);
  if (body?.endsConnection) {
    setImmediate(() => {
      if (!exchange.aborted) writeReplyLater(res, { ...reply, closes: true }, ownLines(exchange), withoutBody);
    });
  } else if (!aborted) write(res, reply, ownLines(exchange), withoutBody);
  finish(exchange, reply);
}

async function flow(exchange: Exchange, reply: Reply, stream: AsyncIterable<Uint8Array>): Promise<void> {
  await writeStream(exchange.res, reply, ownLines(exchange), stream, exchange).catch((err: unknown) => {
    exchange.options.api.logger.warn({ err, requestId: exchange.asked.requestId }, 'a stream ended before its end');
  });
  finish(exchange, reply);
}

function ownLines({ limits, asked }: Pick<Exchange, 'limits' | 'asked'>): HeaderLines {
  return `${limits}\r\nX-Request-Id: ${asked.requestId}` as HeaderLines;
}

function finish({ options: { api, underWay }, asked, account, body, started, aborted }: Exchange, reply: Reply): void {
  body?.release();
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
  const started = performance.now();
  const asked = readQuestion(req, { template, credits: 0, tier: null }, nothingMore);
  return (error: unknown, limits: HeaderLines): void => {
    const reply = problemReply(error, asked, api.logger);
    writeReplyLater(res, reply, ownLines({ limits, asked }), false);
    observeRequest(template, asked.method, reply.status, (performance.now() - started) / 1000);
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
  return (account.vital ? soonEnough(admission) : admission).then(
    (admitted) => produceCharged(exchange, admitted),
    (failure) => produceUncharged(exchange, failure),
  );
}

/** Whoever asks whether the process lives is not to conclude from a silent store that it does not. */
async function soonEnough(admission: Promise<Admission>): Promise<Admission> {
  const waiting = new AbortController();
  const late = sleep(VITAL_MS, undefined, { signal: waiting.signal }).then(() => Promise.reject(TOO_SLOW));
  return Promise.race([admission, late]).finally(() => waiting.abort());
}

function produceCharged(exchange: Exchange, { caller, refusal, headers, charged }: Admission): Soon<Reply> {
  exchange.limits = headers;
  if (refusal) return refused(exchange, refusal);
  const reply = produceFor(exchange, caller);
  return reply instanceof Promise ? reply.then((made) => settle(made, charged)) : settle(reply, charged);
}

/** A body that still comes is read first, or the answer would end the connection. */
function refused(exchange: Exchange, refusal: unknown): Soon<Reply> {
  const { body } = exchange;
  return body ? body.whole.then(() => problem(exchange, refusal)) : problem(exchange, refusal);
}

function settle(reply: Reply, charged: Admission['charged']): Reply {
  if (reply.status >= 500 && !reply.isPaid) charged.giveBack();
  return reply;
}

/** Nobody can say what the caller has used. */
function produceUncharged(exchange: Exchange, failure: unknown): Soon<Reply> {
  const { account, visitor } = exchange;
  return account.vital ? produceFor(exchange, { bearer: visitor.bearer, key: null }) : refused(exchange, failure);
}

function produceFor(exchange: Exchange, caller: Caller): Soon<Reply> {
  const { asked, answer, body } = exchange;
  if (body) return produceLater(exchange, caller, body);
  try {
    const reply = answer(asked, caller, NO_BODY);
    return reply instanceof Promise ? reply.catch((error: unknown) => problem(exchange, error)) : reply;
  } catch (error) {
    return problem(exchange, error);
  }
}

async function produceLater(exchange: Exchange, caller: Caller, { whole }: IncomingBody): Promise<Reply> {
  try {
    return await exchange.answer(exchange.asked, caller, wholeBody(await whole));
  } catch (error) {
    return problem(exchange, error);
  }
}

const problem = ({ asked, options }: Exchange, error: unknown) => problemReply(error, asked, options.api.logger);

/** @throws ApiError when there is none */
function wholeBody(body: Buffer | BodyFailure): Buffer {
  if (body === 'aborted') throw new ApiError('invalid_request', 'the client went before its body was whole');
  if (body === 'too large') throw new ApiError('payload_too_large', `a body may have ${MAX_BODY_BYTES} bytes`);
  if (body === 'evicted') throw new ApiError('busy', 'there is no room for this body at the moment: send it again');
  return body;
}
