/** REST and JSON-RPC over real HTTP with the real limits, a few routes, and a daemon that records its requests. */
import { App, us_socket_local_port } from 'uWebSockets.js';
import { pino } from 'pino';
import { createGate } from '../../../../api/access/gate.ts';
import { createDaemonLanes, daemonsOfOwner } from '../../../../api/access/lane-daemons.ts';
import { createLimiter } from '../../../../api/access/limiter.ts';
import type { WorkOwner } from '../../../../api/access/priority-lanes.ts';
import { createReadVisitor } from '../../../../api/access/visitor.ts';
import type { ApiContext } from '../../../../api/api-context.ts';
import { type BufferedBodiesOptions, createBufferedBodies } from '../../../../api/http/buffered-bodies.ts';
import { type DispatcherOptions, registerFallback, registerRoutes } from '../../../../api/http/dispatcher.ts';
import { framedRoutes } from '../../../../api/http/framed-routes.ts';
import { type AnsweredRoute, liveRoute } from '../../../../api/http/route.ts';
import { createUnsentAnswers, type UnsentAnswersOptions } from '../../../../api/http/unsent-answers.ts';
import { createRpcHandler, type RpcHandlerOptions } from '../../../../api/rpc/rpc-handler.ts';
import { type RpcRoutesOptions, registerRpc } from '../../../../api/rpc/rpc-routes.ts';
import type { Postgres } from '../../../../infra/postgres/postgres.ts';
import type { VerusdClient } from '../../../../infra/verusd/verusd-client.ts';
import { createMemoryLedger } from '../access/memory-ledger.ts';

export interface SmallApi {
  readonly port: number;
  /** Bodies that the daemon received. */
  readonly received: string[];
  /** Requests to the REST routes: method, path and body. */
  readonly answered: string[];
  close(): void;
}

export interface SmallApiOptions {
  readonly requestsPerMinute?: number;
  readonly creditsPerMinute?: number;
  readonly held?: BufferedBodiesOptions;
  readonly unsent?: UnsentAnswersOptions;
  readonly answerMs?: number;
  /** Awaited before the daemon answers. */
  readonly daemon?: () => Promise<unknown>;
  readonly routes?: readonly AnsweredRoute[];
  /** A real daemon's client, instead of the recording double. */
  readonly client?: Pick<VerusdClient, 'forward' | 'call'>;
  readonly extensions?: RpcHandlerOptions['extensions'];
}

export const CHAIN = 'vrsc';
const UNLIMITED = 1_000_000_000;

const open = { summary: '', parameters: {}, response: {}, cache: 'none' } as const;

/** Callers are distinguished by X-Forwarded-For. */
export async function startSmallApi({
  requestsPerMinute = UNLIMITED,
  creditsPerMinute = UNLIMITED,
  held,
  unsent,
  answerMs,
  daemon = async () => undefined,
  routes = [],
  client,
  extensions = {},
}: SmallApiOptions = {}): Promise<SmallApi> {
  const logger = pino({ level: 'silent' });
  const received: string[] = [];
  const answered: string[] = [];
  const tier = { creditsPerMinute };
  const gate = createGate({
    config: { tiers: { free: tier, developer: tier, pro: tier }, keylessRequestsPerMinute: requestsPerMinute },
    limiter: createLimiter({
      ledger: createMemoryLedger(),
      process: 'a',
      now: () => performance.now(),
      members: () => 1,
    }),
    keys: { known: () => null, find: async () => null },
    usage: { record: () => () => undefined },
  });
  const chains = [
    {
      name: CHAIN,
      rootCurrency: 'VRSC',
      networkRoot: 'VRSC',
      finalityDepth: 100,
      blockSeconds: 60,
      requireEmptyWallet: false,
    },
  ];
  const api = { logger, config: { chains } } as unknown as ApiContext;
  const clients = new Map(client ? [[CHAIN, client as VerusdClient]] : []);
  const lanes = new Map([[CHAIN, createDaemonLanes()]]);
  const options = {
    api,
    apiOf: (owner: WorkOwner, gone?: AbortSignal) => ({
      ...api,
      daemons: daemonsOfOwner(clients, lanes, options.unsent, owner, gone),
    }),
    underWay: { count: 0 },
    access: { gate, readVisitor: createReadVisitor(['127.0.0.1']) },
    bodies: createBufferedBodies(held),
    unsent: createUnsentAnswers({ withoutBody: Number.POSITIVE_INFINITY, ...unsent }),
    ...(answerMs !== undefined && { answerMs }),
  } as unknown as DispatcherOptions;
  const asked = (what: string) => {
    answered.push(what);
    return { body: { what } };
  };
  const table = [
    liveRoute({ ...open, path: '/read', weight: 1, handler: async () => asked('GET /read') }),
    liveRoute({ ...open, path: '/metrics', weight: 0, handler: async () => asked('GET /metrics') }),
    liveRoute({
      ...open,
      path: '/write',
      method: 'POST',
      weight: 1,
      body: { type: 'object' },
      handler: async ({ body }) => asked(`POST /write ${JSON.stringify(body)}`),
    }),
    liveRoute({
      ...open,
      path: '/act',
      method: 'POST',
      status: 204,
      weight: 1,
      handler: async () => ({ ...asked('POST /act'), body: null }),
    }),
    ...routes,
  ];
  const double: Pick<VerusdClient, 'forward' | 'call'> = {
    async forward(body) {
      received.push(String(body));
      await daemon();
      return { status: 200, body: Buffer.from('{"result":1,"error":null,"id":7}\n') };
    },
    call: async () => ({ chainid: 'i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV' }) as never,
  };
  const handler = createRpcHandler({
    chains,
    daemons: new Map([[CHAIN, client ?? double]]),
    postgres: {} as Postgres,
    tip: () => null,
    nameToAddress: () => null,
    extensions,
    logger,
  });
  const app = App();
  const framed = framedRoutes(app);
  registerRoutes(framed, table, options);
  registerRpc(framed, handler, { ...options, config: { chains } as unknown as RpcRoutesOptions['config'] });
  registerFallback(framed, options);
  const port = await new Promise<number>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) =>
      socket ? resolve(us_socket_local_port(socket)) : reject(new Error('no port')),
    );
  });
  return { port, received, answered, close: () => void app.close() };
}
