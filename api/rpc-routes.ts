/** JSON-RPC on the wire: POST /, POST /rpc/<chain>, and the host names rpc.* and <chain>.rpc.*. */
import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { Logger } from '../infra/logger.ts';
import type { Config } from '../schemas/config.ts';
import { type RpcBody, readRpcBody } from '../schemas/verusd/rpc-envelope.ts';
import type { Access } from './access/access.ts';
import { type Admission, laneOf } from './access/gate.ts';
import type { Visitor } from './access/visitor.ts';
import { preflight } from './http/dispatcher.ts';
import type { RequestsUnderWay } from './http/exchange.ts';
import { type HeaderLines, headerLines, joinLines, NO_LINES } from './http/header-lines.ts';
import { type Reply, writeReply, writeReplyLater } from './http/reply.ts';
import { observeRequest } from './http/request-seconds.ts';
import { andThen, orElse, type Soon } from './http/soon.ts';
import { internalFailure, rpcCost, tooManyRequests } from './rpc/cost.ts';
import type { RpcAnswer, RpcHandler } from './rpc/rpc-handler.ts';

export interface RpcRoutesOptions {
  readonly config: Pick<Config, 'chains'>;
  readonly underWay: RequestsUnderWay;
  readonly access: Pick<Access, 'gate' | 'readVisitor'>;
  readonly logger: Logger;
}

/** The daemon's own limit. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const ALLOW = 'POST, OPTIONS';
const POST_ONLY = 'JSONRPC server handles only POST requests';

export function registerRpc(app: TemplatedApp, handler: RpcHandler, options: RpcRoutesOptions): void {
  const chains = options.config.chains.map((chain) => chain.name);
  const [defaultChain = ''] = chains;
  const serve = (res: HttpResponse, req: HttpRequest, chain: string) => answer(res, req, chain, handler, options);
  app.post('/', (res, req) => {
    const chain = chainOfHost(req.getHeader('host')) ?? defaultChain;
    if (chains.includes(chain)) serve(res, req, chain);
    else refuse(res, req, 404, `there is no chain ${chain} here, only ${chains.join(', ')}`);
  });
  app.options('/', (res) => preflight(res, ALLOW));
  app.any('/', (res, req) => refuse(res, req, 405, POST_ONLY));
  const atChain = (serveChain: (res: HttpResponse, req: HttpRequest, chain: string) => void) => {
    return (res: HttpResponse, req: HttpRequest) => {
      const chain = (req.getParameter(0) ?? '').toLowerCase();
      if (chains.includes(chain)) serveChain(res, req, chain);
      else req.setYield(true);
    };
  };
  for (const path of ['/rpc/:chain', '/rpc/:chain/']) {
    app.post(path, atChain(serve));
    app.options(
      path,
      atChain((res) => preflight(res, ALLOW)),
    );
    app.any(
      path,
      atChain((res, req) => refuse(res, req, 405, POST_ONLY)),
    );
  }
}

/** `vdex.rpc.example.org` → vdex, in any case; null for every other name, such as `rpc.example.org`. */
export function chainOfHost(host: string): string | null {
  const [first = '', second] = host.toLowerCase().split('.');
  return second === 'rpc' ? first : null;
}

/** Before any body is read, in the plain text that clients of the daemon know. */
function refuse(res: HttpResponse, req: HttpRequest, status: 404 | 405, reason: string): void {
  const headers = headerLines({ ...(status === 405 && { Allow: ALLOW }), 'Content-Type': 'text/plain' });
  const body = req.getMethod() === 'head' ? null : Buffer.from(reason);
  writeReply(res, { status, headers, body }, NO_LINES, false);
}

function answer(
  res: HttpResponse,
  req: HttpRequest,
  chain: string,
  handler: RpcHandler,
  options: RpcRoutesOptions,
): void {
  const started = performance.now();
  const visitor = options.access.readVisitor(res, req);
  void visitor.network; // cannot be read any more when the body is there
  let aborted = false;
  options.underWay.count += 1;
  readBody(res, {
    whole(bytes) {
      return andThen(produce(visitor, readRpcBody(bytes), chain, handler, options), (made) => {
        if (!aborted) writeReplyLater(res, made, NO_LINES, false);
        observeRequest('/rpc/:chain', 'post', made.status, (performance.now() - started) / 1000);
      });
    },
    aborted() {
      aborted = true;
    },
    done() {
      options.underWay.count -= 1;
    },
  });
}

/** Charged before the work, a batch as one sum; given back when nothing of it was answered through our fault. */
function produce(
  visitor: Visitor,
  body: RpcBody,
  chain: string,
  handler: RpcHandler,
  { access, logger }: RpcRoutesOptions,
): Soon<Reply> {
  const admitted = ({ refusal, headers, caller, charged }: Admission): Soon<Reply> => {
    if (refusal) {
      const said = joinLines(headers, headerLines(refusal.details.headers ?? {}));
      return refusal.status === 429
        ? reply(tooManyRequests(body), said)
        : { status: refusal.status, headers: said, body: Buffer.alloc(0) }; // as the daemon answers wrong credentials
    }
    return andThen(handler(chain, body, laneOf(caller)), (made) => {
      if (made.ourFault) charged.giveBack();
      return reply(made, headers);
    });
  };
  return orElse(
    () => andThen(access.gate.rpc(visitor, rpcCost(body)), admitted),
    (err) => {
      logger.error({ err, chain }, 'a JSON-RPC call failed');
      return reply(internalFailure(body), NO_LINES);
    },
  );
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

/** Bytes of all bodies whose calls are not answered yet: however many connections send, memory stays bounded. */
let held = 0;
const MAX_HELD_BYTES = 4 * MAX_BODY_BYTES;

interface BodyReader {
  /** Called once when all is there; the bytes are gone once it has returned. */
  whole(bytes: Uint8Array): Soon<void>;
  /** The client is gone, before its body was whole or after. */
  aborted(): void;
  /** The last call. */
  done(): void;
}

/** A client that sends too much is cut off, as the daemon does. */
function readBody(res: HttpResponse, reader: BodyReader): void {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isWhole = false;
  const end = () => {
    held -= size;
    reader.done();
  };
  res.onAborted(() => {
    reader.aborted();
    if (!isWhole) end();
  });
  res.onData((chunk, isLast) => {
    size += chunk.byteLength;
    held += chunk.byteLength;
    if (size > MAX_BODY_BYTES || held > MAX_HELD_BYTES) {
      res.close();
      return;
    }
    // The chunk's memory is gone after this call.
    if (!isLast) chunks.push(Buffer.copyBytesFrom(new Uint8Array(chunk)));
    else {
      isWhole = true;
      const last = new Uint8Array(chunk);
      const read = reader.whole(chunks.length === 0 ? last : Buffer.concat([...chunks, last]));
      if (read instanceof Promise) void read.finally(end);
      else end();
    }
  });
}
