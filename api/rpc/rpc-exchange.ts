/** One POST of JSON-RPC from its headers to the last byte of its answer: admitted, read, charged, answered. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { MAX_BATCH_BYTES, readRpcBody } from '../../schemas/verusd/rpc-body.ts';
import type { RpcBody } from '../../schemas/verusd/rpc-envelope.ts';
import { type AnswerMemory, createAnswerMemory } from '../access/answer-memory.ts';
import type { Admission } from '../access/gate.ts';
import type { Visitor } from '../access/visitor.ts';
import type { ExchangeOptions } from '../http/exchange.ts';
import type { AnnouncedBody } from '../http/framing.ts';
import { type HeaderLines, headerLines, joinLines, NO_LINES } from '../http/header-lines.ts';
import { type BodyFailure, IncomingBody } from '../http/read-body.ts';
import { type Reply, writeReplyLater } from '../http/reply.ts';
import { observeRequest } from '../http/request-seconds.ts';
import { bodyTooLarge, internalFailure, noRoom, rpcCost, tooManyRequests } from './cost.ts';
import type { RpcAnswer, RpcHandler } from './rpc-handler.ts';
import { RPC_TEMPLATE } from './template.ts';

/** Refused bodies up to this size are read to find the id; a longer refused body is not read, and its answer has no id. */
const MAX_REFUSED_BYTES = 4096;
/** Bodies longer than this are charged even when the call fails through our fault, because reading them takes milliseconds. */
const MAX_FREE_BYTES = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);

interface Call {
  readonly res: HttpResponse;
  readonly visitor: Visitor;
  readonly chain: string;
  /** Whether the body is short enough to be read even if the call is refused. */
  readonly isShort: boolean;
  readonly handler: RpcHandler;
  readonly options: ExchangeOptions;
  /** performance.now() at the start, milliseconds. */
  readonly started: number;
  /** Null when no body follows the headers. */
  body: IncomingBody | null;
  /** Counts the memory of daemon answers to this call; null before the call is admitted. */
  memory: AnswerMemory | null;
  isGone: boolean;
}

export function answerCall(
  res: HttpResponse,
  req: HttpRequest,
  announced: AnnouncedBody,
  chain: string,
  handler: RpcHandler,
  options: ExchangeOptions,
): void {
  const { access, bodies, underWay } = options;
  const started = performance.now();
  const visitor = access.readVisitor(res, req);
  const isShort = announced !== 'chunked' && announced <= MAX_REFUSED_BYTES;
  const call: Call = {
    res,
    visitor,
    chain,
    isShort,
    handler,
    options,
    started,
    body: null,
    memory: null,
    isGone: false,
  };
  const aborted = () => {
    call.isGone = true;
    call.memory?.giveUp();
  };
  const { network } = visitor;
  if (announced === 0) res.onAborted(aborted);
  else {
    call.body = new IncomingBody(res, { announced, maxBytes: MAX_BATCH_BYTES, held: bodies, network, aborted });
  }
  underWay.count += 1;
  void answer(call);
}

const UNREAD: RpcBody = readRpcBody(NO_BYTES);

async function answer(call: Call): Promise<void> {
  respond(call, await produce(call));
}

/** Charges before the work, a batch as one sum. Refunds the charge if the call failed through our fault, unless the body was long. */
async function produce(call: Call): Promise<Reply> {
  const { visitor, chain, body, isShort, handler, options } = call;
  let paid: Pick<Admission['charged'], 'giveBack'> | null = null;
  let read = UNREAD;
  try {
    const { gate } = options.access;
    const entrance = gate.rpcNow(visitor, RPC_TEMPLATE) ?? (await gate.rpc(visitor, RPC_TEMPLATE));
    paid = entrance;
    if (entrance.refused && !isShort) return refusedReply(entrance.refused, UNREAD);
    if (entrance.refused) {
      read = await readToRefuse(body);
      return refusedReply(entrance.refusedWith(rpcCost(read)), read);
    }
    const bytes = body ? await body.whole : NO_BYTES;
    if (typeof bytes === 'string') return failedReply(bytes);
    read = readRpcBody(bytes);
    const cost = rpcCost(read);
    const admission = entrance.settleNow(cost) ?? (await entrance.settle(cost));
    if (admission.refusal) return refusedReply(admission, read);
    paid = admission.charged;
    const { lane, payer } = admission.caller;
    call.memory = createAnswerMemory(options.unsent, payer);
    if (call.isGone) call.memory.giveUp();
    const made = await handler(chain, read, { lane, payer, memory: call.memory });
    if (made.ourFault && bytes.length <= MAX_FREE_BYTES) paid.giveBack();
    return reply(made, admission.headers);
  } catch (err) {
    paid?.giveBack();
    options.api.logger.error({ err, chain }, 'a JSON-RPC call failed');
    return reply(internalFailure(read), NO_LINES);
  }
}

function respond(call: Call, made: Reply): void {
  const { body, started, options } = call;
  if (body?.endsConnection) {
    // Only after uWebSockets.js has parsed everything it has read: it would serve the requests behind this one.
    setImmediate(() => write(call, { ...made, closes: true }));
  } else write(call, made);
  body?.release();
  options.underWay.count -= 1;
  observeRequest(RPC_TEMPLATE, 'post', call.isGone ? 499 : made.status, (performance.now() - started) / 1000);
}

function write({ res, visitor, options, memory, isGone }: Call, reply: Reply): void {
  memory?.release(); // from here on, bytes that the client has not taken count as unsent
  if (isGone) return;
  writeReplyLater(res, reply, NO_LINES, false, options.unsent, visitor);
}

async function readToRefuse(body: IncomingBody | null): Promise<RpcBody> {
  const bytes = body ? await body.whole : NO_BYTES;
  return typeof bytes === 'string' ? UNREAD : readRpcBody(bytes);
}

function refusedReply({ refusal, headers }: Admission, read: RpcBody): Reply {
  const said = joinLines(headers, headerLines(refusal?.details.headers ?? {}));
  if (refusal?.status === 429) return reply(tooManyRequests(read), said);
  return { status: refusal?.status ?? 500, headers: said, body: NO_BYTES }; // like the daemon for wrong credentials
}

const RETRY = headerLines({ 'Retry-After': '5' });

function failedReply(failure: BodyFailure): Reply {
  return failure === 'too large' ? reply(bodyTooLarge(MAX_BATCH_BYTES), NO_LINES) : reply(noRoom(), RETRY);
}

const JSON_TYPE = headerLines({ 'Content-Type': 'application/json' });

function reply({ status, body, end }: RpcAnswer, headers: HeaderLines): Reply {
  return {
    status,
    end,
    headers: joinLines(JSON_TYPE, headers),
    body: typeof body === 'string' ? Buffer.from(body) : body,
  };
}
