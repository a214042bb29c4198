/** JSON-RPC on the wire: POST /, POST /rpc/<chain>, and the host names rpc.* and <chain>.rpc.*. */
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { metrics } from '../infra/metrics.ts';
import type { Config } from '../schemas/config.ts';
import { preflight, type RequestsUnderWay } from './http/dispatcher.ts';
import { CORS_HEADERS, writeReply } from './http/reply.ts';
import type { RpcHandler } from './rpc/rpc-handler.ts';

export interface RpcRoutesOptions {
  readonly config: Pick<Config, 'chains'>;
  readonly underWay: RequestsUnderWay;
}

/** The daemon's own limit. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const ALLOW = 'POST, OPTIONS';
const POST_ONLY = 'JSONRPC server handles only POST requests';

export function registerRpc(app: TemplatedApp, handler: RpcHandler, options: RpcRoutesOptions): void {
  const chains = options.config.chains.map((chain) => chain.name);
  const [defaultChain = ''] = chains;
  const serve = (res: HttpResponse, chain: string) => answer(res, chain, handler, options);
  app.post('/', (res, req) => serve(res, chainOfHost(req.getHeader('host'), chains) ?? defaultChain));
  app.options('/', (res) => preflight(res, ALLOW));
  app.any('/', refuse);
  for (const chain of chains) {
    for (const path of [`/rpc/${chain}`, `/rpc/${chain}/`]) {
      app.post(path, (res) => serve(res, chain));
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

function refuse(res: HttpResponse): void {
  const headers = { ...CORS_HEADERS, Allow: ALLOW, 'Content-Type': 'text/plain' };
  writeReply(res, { status: 405, headers, body: Buffer.from(POST_ONLY) }, false);
}

function answer(res: HttpResponse, chain: string, handler: RpcHandler, options: RpcRoutesOptions): void {
  const started = performance.now();
  let aborted = false;
  const body = readBody(res, () => {
    aborted = true;
  });
  const reply = (status: number, text: Uint8Array | string, contentType: string) => {
    const headers = { ...CORS_HEADERS, 'Content-Type': contentType };
    if (!aborted)
      writeReply(res, { status, headers, body: typeof text === 'string' ? Buffer.from(text) : text }, false);
    const seconds = (performance.now() - started) / 1000;
    metrics.requestSeconds.observe({ route: '/rpc/:chain', method: 'post', status: String(status) }, seconds);
  };
  options.underWay.count += 1;
  void body
    .then(async (bytes) => {
      if (bytes === null) return;
      const made = await handler(chain, bytes);
      reply(made.status, made.body, made.contentType);
    })
    .finally(() => {
      options.underWay.count -= 1;
    });
}

/** Null when the client is gone; one that sends too much is cut off, as the daemon does. */
function readBody(res: HttpResponse, onAborted: () => void): Promise<Buffer | null> {
  return new Promise((resolve) => {
    res.onAborted(() => {
      onAborted();
      resolve(null);
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    res.onData((chunk, isLast) => {
      bytes += chunk.byteLength;
      if (bytes > MAX_BODY_BYTES) {
        res.close();
        return;
      }
      chunks.push(Buffer.copyBytesFrom(new Uint8Array(chunk))); // the chunk's memory is gone after this call
      if (isLast) resolve(Buffer.concat(chunks));
    });
  });
}
