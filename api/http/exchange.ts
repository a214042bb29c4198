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
import { type Reply, writeReply } from './reply.ts';
import { observeRequest } from './request-seconds.ts';
import { andThen, orElse, type Soon } from './soon.ts';
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
  /** HEAD: the headers alone. */
  readonly head?: boolean;
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

/** A request under way. */
interface Exchange extends Connection {
  readonly res: HttpResponse;
  readonly asked: Question;
  readonly visitor: Visitor;
  readonly account: Account;
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
function readQuestion(req: HttpRequest, { reads }: Account, charge: Question['charge']): Question {
  const given = req.getHeader('x-request-id');
  let parts = '';
  for (let index = 0; index < (reads?.parts ?? 0); index++) {
    parts += `${index > 0 ? '/' : ''}${req.getParameter(index) ?? ''}`;
  }
  return {
    method: req.getMethod(),
    url: req.getUrl(),
    query: req.getQuery() ?? '',
    parts,
    host: reads?.host ? req.getHeader('host').toLowerCase() : '',
    ifNoneMatch: reads?.conditions ? req.getHeader('if-none-match') : '',
    accept: reads?.streams ? req.getHeader('accept') : '',
    acceptEncoding: reads?.encoding ? req.getHeader('accept-encoding') : '',
    charge,
    requestId: given !== '' && REQUEST_ID.test(given) ? given : `${REQUEST_PREFIX}-${(++requests).toString(36)}`,
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
    res,
    asked,
    visitor,
    account,
    started,
    limits: NO_LINES,
    aborted: false,
    onGone: nothing,
  };
  underWay.count += 1;
  const body = account.takesBody ? readBody(res, MAX_BODY_BYTES, () => leave(exchange)) : NO_BODY;
  const reply = produce(options, exchange, body, answer);
  if (reply instanceof Promise && !account.takesBody) res.onAborted(() => leave(exchange));
  void andThen(reply, (made) => respond(options, exchange, made));
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

function respond(options: ExchangeOptions, exchange: Exchange, reply: Reply): Soon<void> {
  const { res, account, aborted } = exchange;
  if (reply.stream && !account.head && !aborted) return flow(options, exchange, reply, reply.stream);
  if (!aborted) writeReply(res, reply, ownLines(exchange), account.head ?? false);
  finish(options, exchange, reply);
}

async function flow(
  options: ExchangeOptions,
  exchange: Exchange,
  reply: Reply,
  stream: AsyncIterable<Uint8Array>,
): Promise<void> {
  await writeStream(exchange.res, reply, ownLines(exchange), stream, exchange).catch((err: unknown) => {
    options.api.logger.warn({ err, requestId: exchange.asked.requestId }, 'a stream ended before its end');
  });
  finish(options, exchange, reply);
}

/** The id fits REQUEST_ID. */
function ownLines({ limits, asked }: Pick<Exchange, 'limits' | 'asked'>): HeaderLines {
  return `${limits}\r\nX-Request-Id: ${asked.requestId}` as HeaderLines;
}

function finish(
  { api, underWay }: ExchangeOptions,
  { asked, account, started, aborted }: Exchange,
  reply: Reply,
): void {
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
    writeReply(res, reply, ownLines({ limits, asked }), false);
  };
}

type Body = Awaited<ReturnType<typeof readBody>>;

/** Charged before the work, given back when it fails through our fault. */
function produce(
  { api, access }: ExchangeOptions,
  exchange: Exchange,
  body: Soon<Body>,
  answer: AnswerQuestion,
): Soon<Reply> {
  const { asked, visitor, account } = exchange;
  const problem = (error: unknown): Reply => problemReply(error, asked, api.logger);
  const answered = (caller: Caller) =>
    orElse(() => andThen(body, (bytes) => answer(asked, caller, wholeBody(bytes))), problem);
  const admitted = (admission: Admission): Soon<Reply> => {
    exchange.limits = admission.headers;
    if (admission.refusal) return problem(admission.refusal);
    return andThen(answered(admission.caller), (reply) => {
      if (reply.status >= 500) admission.giveBack();
      return reply;
    });
  };
  const failed = (failure: unknown) =>
    account.vital ? answered({ bearer: visitor.bearer, key: null }) : problem(failure);
  let admission: Soon<Admission>;
  try {
    admission = access.gate.rest(visitor, account);
  } catch (failure) {
    return failed(failure);
  }
  return admission instanceof Promise ? admission.then(admitted, failed) : admitted(admission);
}

/** @throws ApiError when there is none */
function wholeBody(body: Body): Buffer {
  if (body === 'aborted') throw new ApiError('invalid_request', 'the client went before its body was whole');
  if (body === 'too large') throw new ApiError('payload_too_large', `a body may have ${MAX_BODY_BYTES} bytes`);
  return body;
}
