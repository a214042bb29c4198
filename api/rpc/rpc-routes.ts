/** JSON-RPC on the wire: POST /, POST /rpc/<chain>, and the host names rpc.* and <chain>.rpc.*. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Config } from '../../schemas/config.ts';
import { LEAST_CREDITS } from '../access/bills.ts';
import { answerOptions } from '../http/dispatcher.ts';
import { type ExchangeOptions, handleRequest } from '../http/exchange.ts';
import { always } from '../http/fixed-answers.ts';
import type { FramedRoutes, Handler } from '../http/framed-routes.ts';
import type { AnnouncedBody } from '../http/framing.ts';
import { headerLines } from '../http/header-lines.ts';
import { answerCall } from './rpc-exchange.ts';
import type { RpcHandler } from './rpc-handler.ts';
import { RPC_TEMPLATE } from './template.ts';

export interface RpcRoutesOptions extends ExchangeOptions {
  readonly config: Pick<Config, 'chains'>;
}

const ALLOW = 'POST, OPTIONS';
const POST_ONLY = 'JSONRPC server handles only POST requests';

export function registerRpc(app: FramedRoutes, handler: RpcHandler, options: RpcRoutesOptions): void {
  const chains = options.config.chains.map((chain) => chain.name);
  const [defaultChain = ''] = chains;
  const refuse = refuseWith(options);
  const refuseMethod: Handler = (res, req, announced) => refuse(res, req, announced, 405, POST_ONLY);
  const preflight = answerOptions(options, RPC_TEMPLATE, ALLOW);
  app.post('/', (res, req, announced) => {
    const chain = chainOfHost(req.getHeader('host')) ?? defaultChain;
    if (chains.includes(chain)) answerCall(res, req, announced, chain, handler, options);
    else refuse(res, req, announced, 404, `there is no chain ${chain} here, only ${chains.join(', ')}`);
  });
  app.options('/', preflight);
  app.any('/', refuseMethod);
  const atChain = (serveChain: (...request: [...Parameters<Handler>, chain: string]) => void): Handler => {
    return (res, req, announced) => {
      const chain = (req.getParameter(0) ?? '').toLowerCase();
      if (chains.includes(chain)) serveChain(res, req, announced, chain);
      else req.setYield(true);
    };
  };
  for (const path of ['/rpc/:chain', '/rpc/:chain/']) {
    app.post(
      path,
      atChain((res, req, announced, chain) => answerCall(res, req, announced, chain, handler, options)),
    );
    app.options(path, atChain(preflight));
    app.any(path, atChain(refuseMethod));
  }
}

/** Returns vdex for `vdex.rpc.example.org`, in lower case; null for any other name, such as `rpc.example.org`. */
export function chainOfHost(host: string): string | null {
  const [first = '', second] = host.toLowerCase().split('.');
  return second === 'rpc' ? first : null;
}

const REFUSED = { template: RPC_TEMPLATE, credits: LEAST_CREDITS };

/** Refuses with plain text, as clients of the daemon expect. */
function refuseWith(options: ExchangeOptions) {
  return (res: HttpResponse, req: HttpRequest, announced: AnnouncedBody, status: 404 | 405, reason: string) => {
    const headers = headerLines({ ...(status === 405 && { Allow: ALLOW }), 'Content-Type': 'text/plain' });
    const reply = { status, headers, body: Buffer.from(reason) };
    handleRequest(options, res, req, announced, REFUSED, always(reply));
  };
}
