/** One POST of JSON-RPC from its headers to its last byte: let in, read, charged, answered. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { MAX_BATCH_BYTES, readRpcBody } from '../schemas/verusd/rpc-body.ts';
import type { RpcBody } from '../schemas/verusd/rpc-envelope.ts';
import { type Admission, type Entrance, laneOf } from './access/gate.ts';
import type { ExchangeOptions } from './http/exchange.ts';
import type { AnnouncedBody } from './http/framing.ts';
import { type HeaderLines, headerLines, joinLines, NO_LINES } from './http/header-lines.ts';
import { type BodyFailure, IncomingBody } from './http/read-body.ts';
import { type Reply, writeReplyLater } from './http/reply.ts';
import { observeRequest } from './http/request-seconds.ts';
import { bodyTooLarge, internalFailure, noRoom, rpcCost, tooManyRequests } from './rpc/cost.ts';
import type { RpcAnswer, RpcHandler } from './rpc/rpc-handler.ts';

/** The name of every JSON-RPC path in metrics. */
export const RPC_TEMPLATE = '/rpc/:chain';

/** What is refused unread is answered without its id; a body up to here is read for it. */
const MAX_REFUSED_BYTES = 4096;
const NO_BYTES = Buffer.alloc(0);

interface Call {
  readonly chain: string;
  readonly body: IncomingBody | null;
  /** Whether its body is so short that it is read even to refuse it. */
  readonly isShort: boolean;
  readonly handler: RpcHandler;
  readonly options: ExchangeOptions;
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
  let gone = false;
  const aborted = () => {
    gone = true;
  };
  const reading = { announced, maxBytes: MAX_BATCH_BYTES, held: bodies, network: visitor.network, aborted };
  const body = announced === 0 ? null : new IncomingBody(res, { ...reading, announced });
  if (!body) res.onAborted(aborted);
  const isShort = announced !== 'chunked' && announced <= MAX_REFUSED_BYTES;
  underWay.count += 1;
  const entered = enter(() => access.gate.rpc(visitor));
  void produce({ chain, body, isShort, handler, options }, entered).then((reply) => {
    if (body?.endsConnection) {
      // Not before uWebSockets.js has parsed all that it has read: it would serve what follows.
      setImmediate(() => gone || writeReplyLater(res, { ...reply, closes: true }, NO_LINES, false));
    } else if (!gone) writeReplyLater(res, reply, NO_LINES, false);
    body?.release();
    underWay.count -= 1;
    observeRequest(RPC_TEMPLATE, 'post', gone ? 499 : reply.status, (performance.now() - started) / 1000);
  });
}

/** What it throws at once is thrown where it is awaited. */
async function enter(gate: () => Entrance | Promise<Entrance>): Promise<Entrance> {
  return gate();
}

const UNREAD: RpcBody = readRpcBody(NO_BYTES);

/** Charged before the work, a batch as one sum; given back when nothing of it was answered through our fault. */
async function produce(call: Call, entering: Promise<Entrance>): Promise<Reply> {
  let paid: Pick<Admission['charged'], 'giveBack'> | null = null;
  let read = UNREAD;
  try {
    const entrance = await entering;
    paid = entrance;
    if (entrance.refused) return refusedReply(entrance.refused, call.isShort ? await readToRefuse(call.body) : UNREAD);
    const bytes = call.body ? await call.body.whole : NO_BYTES;
    if (typeof bytes === 'string') return failedReply(bytes);
    read = readRpcBody(bytes);
    const admission = await entrance.settle(rpcCost(read));
    if (admission.refusal) return refusedReply(admission, read);
    paid = admission.charged;
    const made = await call.handler(call.chain, read, laneOf(admission.caller));
    if (made.ourFault) paid.giveBack();
    return reply(made, admission.headers);
  } catch (err) {
    paid?.giveBack();
    call.options.api.logger.error({ err, chain: call.chain }, 'a JSON-RPC call failed');
    return reply(internalFailure(read), NO_LINES);
  }
}

async function readToRefuse(body: IncomingBody | null): Promise<RpcBody> {
  const bytes = body ? await body.whole : NO_BYTES;
  return typeof bytes === 'string' ? UNREAD : readRpcBody(bytes);
}

function refusedReply({ refusal, headers }: Admission, read: RpcBody): Reply {
  const said = joinLines(headers, headerLines(refusal?.details.headers ?? {}));
  if (refusal?.status === 429) return reply(tooManyRequests(read), said);
  return { status: refusal?.status ?? 500, headers: said, body: NO_BYTES }; // as the daemon answers wrong credentials
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
