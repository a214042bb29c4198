/** The API of the service: REST, push and JSON-RPC on one port. */

import { App, type TemplatedApp, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js';
import { nameToAddress } from '../domain/names.ts';
import type { TopicReader } from '../infra/event-log/topic-reader.ts';
import { type Closers, openTogether } from '../infra/open-together.ts';
import { openReader } from '../infra/postgres/reader.ts';
import type { Config } from '../schemas/config.ts';
import { PermanentError } from '../schemas/errors.ts';
import type { MempoolSource } from '../schemas/mempool.ts';
import { openAccess } from './access/access.ts';
import { createDaemonLanes } from './access/lane-daemons.ts';
import { ownChainDaemons } from './access/own-chain-daemons.ts';
import { SERVICE } from './access/priority-lanes.ts';
import { type ContextOptions, createContexts } from './create-context.ts';
import { registerDatasets } from './datasets/register-datasets.ts';
import type { StateAnswer } from './http/answer-route.ts';
import { createBufferedBodies } from './http/buffered-bodies.ts';
import { registerFallback, registerRoutes } from './http/dispatcher.ts';
import type { RequestsUnderWay } from './http/exchange.ts';
import { framedRoutes } from './http/framed-routes.ts';
import { createPreparedAnswers } from './http/prepared-answers.ts';
import { rebuildAnswers } from './http/rebuild-answers.ts';
import { isAnswered } from './http/route.ts';
import { createUnsentAnswers } from './http/unsent-answers.ts';
import { watchEstimates } from './mempool/estimate-outcomes.ts';
import { followMempools } from './mempool/mempools.ts';
import { createPageBuild } from './page/page-build.ts';
import type { PageSource } from './page/page-source.ts';
import { registerPage } from './page/register-page.ts';
import { createNames } from './push/names.ts';
import { createPush, type PushOptions } from './push/push.ts';
import { registerPush } from './push/register-push.ts';
import { routeTable } from './rest/route-table.ts';
import { createExtensions } from './rpc/extensions/extensions.ts';
import { createRpcHandler } from './rpc/rpc-handler.ts';
import { registerRpc } from './rpc/rpc-routes.ts';
import type { Wallets } from './rpc/wallet-guard.ts';
import { createCurrencyDirectory } from './state/currency-directory.ts';
import { createCurrentState } from './state/current-state.ts';
import { type HealthTiming, watchHealth } from './state/health-watch.ts';
import { heightOfDaemon } from './state/index-lag.ts';
import { createSnapshots } from './state/snapshot.ts';
import { stateScope } from './state/state-scope.ts';
import { createStateWatch } from './state/state-watch.ts';
import { createStoreHealth } from './state/store-health.ts';
import { openWebhooks, type WebhooksOptions } from './webhooks/webhooks.ts';

export interface ApiOptions extends ContextOptions {
  readonly topics: TopicReader;
  /** Wallet watches of each chain's daemons, by chain name. */
  readonly wallets?: ReadonlyMap<string, Wallets>;
  /** Mempools to follow, by chain name; the API closes them. */
  readonly mempools?: ReadonlyMap<string, MempoolSource>;
  /** Closes the API when it aborts. */
  readonly signal: AbortSignal;
  /** Bytes of memory for cached answers; 0 disables the cache. */
  readonly keptBytes?: number;
  /** The web page; without it none is served. */
  readonly page?: PageSource;
  /** Timing of the push stream, for tests. */
  readonly push?: Pick<PushOptions, 'graceMs' | 'heartbeatMs' | 'slowMs'>;
  /** Timing of the health watch, for tests. */
  readonly health?: HealthTiming;
  /** Timing of webhooks, for tests. */
  readonly webhooks?: WebhooksOptions['timing'];
}

export interface RunningApi {
  readonly port: number;
  /** Stops listening, ends streams with a reason, and waits up to DRAIN_MS for requests in progress. */
  close(): Promise<void>;
}

class PortUnavailable extends PermanentError {
  constructor(host: string, port: number) {
    super('port_unavailable', `cannot listen on ${host}:${port}: it is in use or not allowed. Set HOST or PORT.`);
  }
}

const PREPARED_BYTES = 64 * 1024 * 1024;
const REPEATED_BYTES = 32 * 1024 * 1024;
/** Shorter than `LONGEST_DRAIN_MS` of run-service.ts, so that the rest of the program has time to close. */
const DRAIN_MS = 4_000;
/** Concurrent statements that read Postgres, each on its own connection; a statement may serve several requests. */
const READS_AT_ONCE = 10;
const STATEMENT_MS = 10_000;

/** @throws PortUnavailable */
export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const opened = await openTogether(options.logger, (closers) => open(options, closers));
  const { app, socket, port, push, underWay } = opened;

  let closing: Promise<void> | null = null;
  const close = () => {
    closing ??= shutDown();
    return closing;
  };
  async function shutDown(): Promise<void> {
    us_listen_socket_close(socket);
    push.close();
    const deadline = performance.now() + DRAIN_MS;
    while ((underWay.count > 0 || push.clients() > 0) && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    app.close();
    await opened.close();
  }
  options.signal.addEventListener('abort', () => void close(), { once: true });
  return { port, close };
}

/** Opens all parts; each registers its closer in `closers`. */
async function open(options: ApiOptions, closers: Closers) {
  const { config, release, stores, topics, logger, signal } = options;
  const { postgres } = stores;
  const scope = stateScope(release, config);
  const watch = await createStateWatch(postgres, scope, logger, signal);
  closers.push(() => watch.stop());
  const daemons = ownChainDaemons(options.daemons, () => watch.statuses);
  const reader = openReader(postgres, { maxConnections: READS_AT_ONCE, statementMs: STATEMENT_MS });
  closers.push(() => reader.close());
  const storeFaults = createStoreHealth({ ...stores, reader }, logger);
  const health = await watchHealth({
    chains: config.chains,
    watch,
    storeFaults,
    ...(options.health && { timing: options.health }),
  });
  closers.push(() => health.stop());
  const currentState = createCurrentState(reader, watch);
  const snapshots = createSnapshots({ reader, watch, currentState, scope, atOnce: READS_AT_ONCE });
  const access = await openAccess({ config, postgres, stateTag: () => watch.state.tag, logger });
  closers.push(() => access.close());
  const mempools = followMempools(options.mempools ?? new Map(), watch);
  closers.push(() => mempools.close());
  const currencies = createCurrencyDirectory(config.chains);
  const names = createNames({ chains: config.chains, currencies, watch, withSnapshot: snapshots(SERVICE) });
  const push = await createPush({
    config,
    topics,
    watch,
    withSnapshot: snapshots(SERVICE),
    names,
    logger,
    mempools,
    ...options.push,
  });
  closers.push(() => {
    push.close();
    return push.stopped;
  });
  const webhooks = await openWebhooks({
    config,
    release,
    postgres,
    topics,
    watch,
    names,
    shares: push.shares,
    logger,
    timing: options.webhooks,
  });
  closers.push(() => webhooks.close());
  const lanes = new Map(config.chains.map((chain) => [chain.name, createDaemonLanes()]));
  const underWay: RequestsUnderWay = { count: 0, sending: 0 };
  const unsent = createUnsentAnswers({ underWay });
  // The actual port is known once the server listens; no request arrives before that.
  let port = config.port;
  const apiOf = createContexts(
    { ...options, daemons },
    {
      watch,
      health,
      snapshots,
      lanes,
      answers: unsent,
      webhooks,
      access,
      mempools,
      currencies,
      port: () => port,
    },
  );
  const api = apiOf(SERVICE);
  const stopComparing = watchEstimates(api, logger);
  closers.push(async () => stopComparing());
  const prepared = createPreparedAnswers<StateAnswer>(options.keptBytes ?? PREPARED_BYTES);
  const repeated = createPreparedAnswers<StateAnswer>(options.keptBytes ?? REPEATED_BYTES);
  const rebuilding = rebuildAnswers({ api, apiOf, prepared, watch, underWay, logger });
  closers.push(() => rebuilding.stop());
  const bodies = createBufferedBodies();
  const dispatcher = { api, apiOf, prepared, repeated, currentState, underWay, access, bodies, unsent };
  const rpc = createRpcHandler({
    chains: config.chains,
    daemons,
    ...(options.wallets && { wallets: options.wallets }),
    postgres,
    nameToAddress,
    tip: (chain) => watch.state.derived.get(chain) ?? null,
    daemonHeight: (chain) => heightOfDaemon(watch, chain),
    lanes,
    extensions: createExtensions(apiOf),
    logger,
  });
  const app = App();
  const routes = framedRoutes(app);
  registerPush(routes, push, dispatcher);
  registerRoutes(routes, routeTable.filter(isAnswered), dispatcher);
  registerRpc(routes, rpc, { ...dispatcher, config });
  registerDatasets(routes, { ...dispatcher, config });
  const build = options.page && createPageBuild(options.page, logger);
  if (build) registerPage(routes, { source: options.page, build, config, release, logger, access, unsent });
  registerFallback(routes, dispatcher);
  const socket = await listen(app, config);
  port = us_socket_local_port(socket);
  build?.start();
  return { app, socket, port, push, underWay };
}

type ListenSocket = Parameters<typeof us_listen_socket_close>[0];

/** A signature of listen() that is missing in the types of uWebSockets.js. */
interface ExclusiveListener {
  listen(host: string, port: number, options: number, done: (socket: ListenSocket | false) => void): void;
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT: without it a second process could silently share the port and get half of the requests. */
const EXCLUSIVE_PORT = 1;

function listen(app: TemplatedApp, { host, port }: Pick<Config, 'host' | 'port'>): Promise<ListenSocket> {
  return new Promise((resolve, reject) => {
    (app as unknown as ExclusiveListener).listen(host, port, EXCLUSIVE_PORT, (socket) =>
      socket ? resolve(socket) : reject(new PortUnavailable(host, port)),
    );
  });
}
