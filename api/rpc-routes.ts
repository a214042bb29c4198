/** JSON-RPC on the wire: POST /, POST /rpc/<chain>, and the host names rpc.* and <chain>.rpc.*. */
import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { Logger } from '../infra/logger.ts';
import type { Config } from '../schemas/config.ts';
import { type RpcBody, readRpcBody } from '../schemas/verusd/rpc-envelope.ts';
import type { Access } from './access/access.ts';
import { laneOf } from './access/gate.ts';
import type { Visitor } from './access/visitor.ts';
import { preflight, type RequestsUnderWay } from './http/dispatcher.ts';
import { CORS_HEADERS, type Reply, writeReply } from './http/reply.ts';
import { observeRequest } from './http/request-seconds.ts';
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
  app.post('/', (res, req) => serve(res, req, chainOfHost(req.getHeader('host'), chains) ?? defaultChain));
  app.options('/', (res) => preflight(res, ALLOW));
  app.any('/', refuse);
  for (const chain of chains) {
    for (const path of [`/rpc/${chain}`, `/rpc/${chain}/`]) {
      app.post(path, (res, req) => serve(res, req, chain));
      app.options(path, (res) => preflight(res, ALLOW));
      app.any(path, refuse);
    }
  }
}

/** `rpc.example.org` → null (the default chain), `vdex.rpc.example.org` → vdex; null for every other name. */
export function chainOfHost(host: string, chains: readonly string[]): string | null {
  const [first = '', second] = host.toLowerCase().split('.');
  return second === 'rpc' && chains.includes(first) ? first : null;
}

function refuse(res: HttpResponse, req: HttpRequest): void {
  const headers = { ...CORS_HEADERS, Allow: ALLOW, 'Content-Type': 'text/plain' };
  const body = req.getMethod() === 'head' ? null : Buffer.from(POST_ONLY);
  writeReply(res, { status: 405, headers, body }, false);
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
  let aborted = false;
  const body = readBody(res, () => {
    aborted = true;
  });
  options.underWay.count += 1;
  void body.bytes
    .then(async (bytes) => {
      if (bytes === null) return;
      const { status, headers, body: text } = await produce(visitor, readRpcBody(bytes), chain, handler, options);
      if (!aborted) writeReply(res, { status, headers: { ...headers, ...CORS_HEADERS }, body: text }, false);
      observeRequest('/rpc/:chain', 'post', status, (performance.now() - started) / 1000);
    })
    .finally(() => {
      body.release();
      options.underWay.count -= 1;
    });
}

/** Charged before the work, a batch as one sum; given back when nothing of it was answered through our fault. */
async function produce(
  visitor: Visitor,
  body: RpcBody,
  chain: string,
  handler: RpcHandler,
  { access, logger }: RpcRoutesOptions,
): Promise<Reply> {
  try {
    const admission = await access.gate.rpc(visitor, rpcCost(body));
    const { refusal, headers } = admission;
    if (refusal) {
      const said = { ...headers, ...refusal.details.headers };
      return refusal.status === 429
        ? reply(tooManyRequests(body), said)
        : { status: refusal.status, headers: said, body: Buffer.alloc(0) }; // as the daemon answers wrong credentials
    }
    const made = await handler(chain, body, laneOf(admission.caller));
    if (made.ourFault) admission.giveBack();
    return reply(made, headers);
  } catch (err) {
    logger.error({ err, chain }, 'a JSON-RPC call failed');
    return reply(internalFailure(body), {});
  }
}

function reply({ status, body, contentType }: RpcAnswer, headers: Readonly<Record<string, string>>): Reply {
  return {
    status,
    headers: { 'Content-Type': contentType, ...headers },
    body: typeof body === 'string' ? Buffer.from(body) : body,
  };
}

/** Bytes of all bodies whose calls are not answered yet: however many connections send, memory stays bounded. */
let held = 0;
const MAX_HELD_BYTES = 4 * MAX_BODY_BYTES;

interface Body {
  /** Null when the client is gone; one that sends too much is cut off, as the daemon does. */
  readonly bytes: Promise<Buffer | null>;
  /** Once the call is answered. */
  release(): void;
}

function readBody(res: HttpResponse, onAborted: () => void): Body {
  let size = 0;
  const bytes = new Promise<Buffer | null>((resolve) => {
    res.onAborted(() => {
      onAborted();
      resolve(null);
    });
    const chunks: Buffer[] = [];
    res.onData((chunk, isLast) => {
      size += chunk.byteLength;
      held += chunk.byteLength;
      if (size > MAX_BODY_BYTES || held > MAX_HELD_BYTES) {
        res.close();
        return;
      }
      chunks.push(Buffer.copyBytesFrom(new Uint8Array(chunk))); // the chunk's memory is gone after this call
      if (isLast) resolve(Buffer.concat(chunks));
    });
  });
  return {
    bytes,
    release() {
      held -= size;
    },
  };
}
