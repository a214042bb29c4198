/** Handles one request from its headers to its last byte: admits, answers and charges it. */

import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Access } from '../access/access.ts';
import type { RequestCost } from '../access/bills.ts';
import type { Admission, Caller } from '../access/gate.ts';
import { SERVICE } from '../access/priority-lanes.ts';
import type { Visitor } from '../access/visitor.ts';
import type { ApiContext } from '../api-context.ts';
import type { RequestInfo } from './answer-route.ts';
import type { AnsweredClient } from './answered-client.ts';
import { ApiError } from './api-error.ts';
import type { BufferedBodies } from './buffered-bodies.ts';
import type { AnnouncedBody } from './framing.ts';
import { type HeaderLines, NO_LINES } from './header-lines.ts';
import { problemReply } from './problem-reply.ts';
import { type BodyFailure, IncomingBody } from './read-body.ts';
import { type AnsweredNetwork, type Reply, writeReply, writeReplyLater } from './reply.ts';
import { requestId } from './request-id.ts';
import { observeRequest } from './request-seconds.ts';
import type { UnsentAnswers } from './unsent-answers.ts';
import { writeStream } from './write-stream.ts';

/** Counts requests in progress, so that a shutdown can wait for them. */
export interface RequestsUnderWay {
  count: number;
  /** Requests among `count` that wait only for their clients to read. */
  sending: number;
}

export interface ExchangeOptions {
  readonly api: Pick<ApiContext, 'logger'>;
  readonly underWay: RequestsUnderWay;
  readonly access: Pick<Access, 'gate' | 'readVisitor'>;
  readonly bodies: BufferedBodies;
  readonly unsent: UnsentAnswers;
  /** Milliseconds after which a request without an answer gets a 503. */
  readonly answerMs?: number;
}

/** How a request is charged and counted. */
export interface Account extends Omit<RequestCost, 'requests'> {
  /** Answered even while the limiter is unavailable. */
  readonly vital?: boolean;
  /** Taken from the route where its pattern determines them, so that the request need not be read. */
  readonly method?: string;
  readonly url?: string | undefined;
  /** Parts of the request that the answer depends on; nothing else is read. */
  readonly reads?: Reads;
}

interface Reads {
  /** Number of path parameters. */
  readonly parts: number;
  /** Whether the answer may be a 304. */
  readonly conditions?: boolean;
  /** Whether the answer may be a stream. */
  readonly streams?: boolean;
  readonly encoding?: boolean;
  readonly host?: boolean;
}

/** Answers a request that has been admitted and whose body is complete. */
export interface Answerer {
  /** Returns null when the answer has to be made. */
  atHand(asked: RequestInfo, caller: Caller): Reply | null;
  /** `gone`: a signal that aborts when the client leaves. */
  make(asked: RequestInfo, caller: Caller, body: Buffer, gone: () => AbortSignal): Promise<Reply>;
}

/** A request in progress. */
interface Exchange extends AnsweredClient {
  readonly options: ExchangeOptions;
  readonly res: HttpResponse;
  readonly asked: RequestInfo;
  readonly visitor: Visitor;
  readonly account: Account;
  readonly answerer: Answerer;
  /** Null when no body follows the headers. */
  body: IncomingBody | null;
  /** Milliseconds of `performance.now()`. */
  readonly started: number;
  /** Rate limit headers of the answer. */
  limits: HeaderLines;
  /** Whether the request has been answered: later answers are dropped. */
  isAnswered: boolean;
  /** Runs while the answer is being made. */
  deadline: NodeJS.Timeout | null;
  /** Made when the answerer asks for its signal. */
  gone: AbortController | null;
}

/** Bodies of REST are small, such as a name or an address. */
const MAX_BODY_BYTES = 64 * 1024;
const NO_BODY = Buffer.alloc(0);
/** Longer than the 30 s of a daemon and the time limits of all stores. */
const ANSWER_MS = 35_000;
/** How long a vital request waits for the limiter. */
const VITAL_MS = 1_000;

/** Call it before the first await: uWebSockets.js invalidates `req` afterwards. */
function readRequestInfo(req: HttpRequest, account: Account, charge: RequestInfo['charge']): RequestInfo {
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

/** Answers one request and charges it, within this call if nothing has to be waited for. */
export function handleRequest(
  options: ExchangeOptions,
  res: HttpResponse,
  req: HttpRequest,
  announced: AnnouncedBody,
  account: Account,
  answerer: Answerer,
): void {
  const { underWay, access } = options;
  const started = performance.now();
  const visitor = access.readVisitor(res, req);
  const asked = readRequestInfo(
    req,
    account,
    account.reads?.streams ? chargeLater(access, visitor, account) : nothingMore,
  );
  const exchange: Exchange = {
    options,
    res,
    asked,
    visitor,
    account,
    answerer,
    body: null,
    started,
    limits: NO_LINES,
    isAnswered: false,
    deadline: null,
    gone: null,
    aborted: false,
    onGone: nothing,
  };
  underWay.count += 1;
  if (announced !== 0) exchange.body = readBody(exchange, announced);
  void answer(exchange);
  if (!exchange.isAnswered) expectLater(exchange);
}

/** Runs synchronously within the request's callback up to its first await; cached answers need none. */
async function answer(exchange: Exchange): Promise<void> {
  const { options, asked, visitor, account, answerer, body } = exchange;
  let charged: Admission['charged'] | null = null;
  let reply: Reply;
  try {
    const admission = options.access.gate.restNow(visitor, account) ?? (await admitLater(exchange));
    exchange.limits = admission.headers;
    charged = admission.charged;
    if (admission.refusal) throw admission.refusal;
    const bytes = body ? wholeBody(await body.whole) : NO_BODY;
    reply =
      answerer.atHand(asked, admission.caller) ??
      (await answerer.make(asked, admission.caller, bytes, goneOf(exchange)));
  } catch (error) {
    if (body) {
      body.discard();
      await body.whole; // an answer before its end would close the connection
    }
    reply = problem(exchange, error);
  }
  // The charge is taken before the work and refunded when the service fails, but not once the request has been answered as too slow.
  if (reply.status >= 500 && !reply.isPaid && !exchange.isAnswered) charged?.giveBack();
  respond(exchange, reply);
}

/** Prepares a request that is not answered within its callback: watches for a disconnect and sets the deadline. */
function expectLater(exchange: Exchange): void {
  const { res, asked, options, visitor } = exchange;
  void visitor.network; // it cannot be read later
  if (!exchange.body) res.onAborted(() => leave(exchange));
  exchange.deadline = setTimeout(() => {
    const { requestId, method, url, query } = asked;
    options.api.logger.error({ requestId, method, url, query }, 'a request was not answered in time');
    respond(exchange, problem(exchange, TOO_SLOW));
  }, options.answerMs ?? ANSWER_MS);
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
  exchange.gone?.abort(LEFT);
  exchange.onGone();
}

/** Reason of the abort. As `busy` it is not logged as a failure and keeps its charge. */
const LEFT = new ApiError('busy', 'the client left before its answer');

const goneOf = (exchange: Exchange) => (): AbortSignal => {
  exchange.gone ??= new AbortController();
  if (exchange.aborted) exchange.gone.abort(LEFT);
  return exchange.gone.signal;
};

/** Charges the caller while a streamed answer is sent. */
function chargeLater(
  { gate }: ExchangeOptions['access'],
  visitor: Visitor,
  { template }: Account,
): RequestInfo['charge'] {
  return async (credits) => (await gate.rest(visitor, { template, credits, requests: 0 })).refusal;
}

function respond(exchange: Exchange, reply: Reply): void {
  if (exchange.isAnswered) return;
  exchange.isAnswered = true;
  const { res, asked, aborted, body, deadline, visitor } = exchange;
  const { unsent } = exchange.options;
  const write = deadline === null ? writeReply : writeReplyLater;
  if (deadline !== null) clearTimeout(deadline);
  const withoutBody = asked.method === 'head';
  if (reply.stream && !withoutBody && !aborted) {
    void flow(exchange, reply, reply.stream);
    return;
  }
  if (body?.endsConnection) {
    // Waits until uWebSockets.js has parsed all that it has read: otherwise it would serve the requests behind this one before it closes.
    setImmediate(() => {
      if (exchange.aborted) return;
      writeReplyLater(res, { ...reply, closes: true }, ownLines(exchange), withoutBody, unsent, visitor);
    });
  } else if (!aborted) write(res, reply, ownLines(exchange), withoutBody, unsent, visitor);
  finish(exchange, reply);
}

async function flow(exchange: Exchange, reply: Reply, stream: AsyncIterable<Uint8Array>): Promise<void> {
  const { res, visitor } = exchange;
  const { underWay, unsent } = exchange.options;
  underWay.sending += 1;
  await writeStream(res, reply, ownLines(exchange), stream, exchange, unsent, visitor).catch((err: unknown) => {
    exchange.options.api.logger.warn({ err, requestId: exchange.asked.requestId }, 'a stream ended before its end');
  });
  underWay.sending -= 1;
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

/** Returns a function that answers a request with an error, for handlers that make no Reply. Call problemTo before the first await. */
export function problemTo(
  { api, unsent }: ExchangeOptions,
  res: HttpResponse,
  req: HttpRequest,
  template: string,
  visitor: AnsweredNetwork,
) {
  const started = performance.now();
  const asked = readRequestInfo(req, { template, credits: 0 }, nothingMore);
  return (error: unknown, limits: HeaderLines): void => {
    const reply = problemReply(error, asked, api.logger);
    writeReplyLater(res, reply, ownLines({ limits, asked }), asked.method === 'head', unsent, visitor);
    observeRequest(template, asked.method, reply.status, (performance.now() - started) / 1000);
  };
}

async function admitLater({ options, visitor, account }: Exchange): Promise<Admission> {
  const admission = options.access.gate.rest(visitor, account);
  if (!account.vital) return admission;
  // A health probe must not conclude from an unresponsive store that the process is dead.
  const caller: Caller = { ...SERVICE, bearer: visitor.bearer, key: null };
  const uncharged = { caller, refusal: null, headers: NO_LINES, charged: { giveBack: nothing } };
  const waiting = new AbortController();
  const late = sleep(VITAL_MS, uncharged, { signal: waiting.signal });
  return Promise.race([admission.catch(() => uncharged), late]).finally(() => waiting.abort());
}

const problem = ({ asked, options }: Exchange, error: unknown) => problemReply(error, asked, options.api.logger);

/** @throws ApiError when the body is incomplete, too large or evicted */
function wholeBody(body: Buffer | BodyFailure): Buffer {
  if (body === 'aborted') throw new ApiError('invalid_request', 'the client disconnected before its body was complete');
  if (body === 'too large') throw new ApiError('payload_too_large', `a body may have ${MAX_BODY_BYTES} bytes`);
  if (body === 'evicted')
    throw new ApiError('busy', 'the service has no memory for this body at the moment: send it again');
  return body;
}
