/** The whole service on the recorded node: real stores, real stages, a port of its own. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { createKey, setTier } from '../../api/access/key-store.ts';
import { type ApiOptions, type RunningApi, startApi } from '../../api/server.ts';
import type { StoreContext } from '../../commands/command.ts';
import { openMempools } from '../../commands/open-mempools.ts';
import { runStages } from '../../commands/run-stages.ts';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import { createDaemonGroup } from '../../infra/verusd/daemon-group.ts';
import type { WatchTiming } from '../../infra/verusd/daemon-watch.ts';
import { createStageReporter } from '../../pipeline/stage/stage-reporter.ts';
import { type RecordedNode, startRecordedNode } from '../../recordings/player/recorded-node.ts';
import type { AccessTier, ChainConfig, Config } from '../../schemas/config.ts';
import type { DaemonStatus } from '../../schemas/daemon-status.ts';
import { createTestStores, type TestStores } from '../support/infra/test-stores.ts';
import { whatIsUnderWay, whatKeeps } from '../support/infra/under-way.ts';
import { type SecondApi, type SecondApiOptions, startSecondProcess } from './start-second-api.ts';

/** A busy machine is slow, but makes progress. */
const STANDS_STILL_MS = 60_000;
const POLL_MS = 50;

export const RECORDING = fileURLToPath(new URL('../../recordings/private-network/', import.meta.url));
export const CHAIN = 'vrsc';
export const NATIVE = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
/** alice@ of the recording. */
export const ALICE = 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2';
export const USDX = 'iKbuNyLVsZYADYRfhAS2KxTQYJCewHLHgg';

/** The daemon that a service follows. */
export interface FollowedNode {
  /** Includes user and password. */
  readonly url: string;
  /** Height and hash of its newest block. */
  readonly height: number;
  readonly hash: string;
  stop(): Promise<void>;
}

export interface RunningService<Node extends FollowedNode = RecordedNode> {
  /** The context of commands while it runs. */
  readonly context: StoreContext;
  readonly node: Node;
  readonly stores: TestStores;
  readonly url: string;
  readonly port: number;
  /** Waits until the index has reached the tip of the node; with `priced`, also until its prices have. */
  settled(priced?: boolean): Promise<void>;
  /** Starts a second API in this process, by default on any free port. Close it before the service. */
  startAnother(
    options: Pick<ApiOptions, 'keptBytes'> & Pick<ServiceOptions, 'limits'> & { readonly port?: number },
  ): Promise<RunningApi>;
  /** Starts a second API on its own port, in its own operating system process, on the same Postgres. */
  startSecondApi(
    options?: Pick<ApiOptions, 'keptBytes'> & Pick<SecondApiOptions, 'servesPage'> & { readonly port?: number },
  ): Promise<SecondApi>;
  /** An API key of a recorded identity. */
  issueKey(tier: AccessTier): Promise<string>;
  /** Closes only the API and starts it again on the same stores and log. */
  restartApi(): Promise<void>;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  /** By default so high that no test reaches them. */
  readonly limits?: Pick<Config, 'tiers' | 'keylessRequestsPerMinute'> & Partial<Pick<Config, 'trustedProxies'>>;
  readonly publicHosts?: Config['publicHosts'];
  readonly chain?: Pick<Partial<ChainConfig>, 'stableAnchors' | 'minBasketAge'>;
  readonly datasets?: Config['datasets'];
  readonly push?: ApiOptions['push'];
  readonly webhooks?: ApiOptions['webhooks'];
  /** Seconds since the epoch. */
  readonly cutover?: number;
  readonly health?: ApiOptions['health'];
  readonly page?: ApiOptions['page'];
  /** Names of further chains, whose daemons never answer. */
  readonly silentChains?: readonly string[];
  /** Timing of the watch over the daemon. */
  readonly daemonTiming?: WatchTiming;
}

export function chainOf(
  chain: Pick<ChainConfig, 'name' | 'rpc' | 'rootCurrency' | 'stableAnchors'> & Partial<ChainConfig>,
): ChainConfig {
  const settings = { blockSeconds: 60, finalityDepth: 100, minBasketAge: 20, requireEmptyWallet: false };
  return { networkRoot: 'VRSCTEST', ...settings, ...chain };
}

export function configOf(chains: Config['chains']): Config {
  return {
    chains,
    dataDir: '',
    databaseUrl: null,
    clickhouseUrl: null,
    kafkaBrokers: null,
    roles: ['tail', 'derive', 'price', 'serve'],
    host: '127.0.0.1',
    port: 0,
    priceFeedUrls: [],
    trustedProxies: [],
    publicHosts: null,
    logLevel: 'silent',
    cutover: Date.parse('2026-04-24T00:00:00Z') / 1000,
    minListedDepthUsd: 10_000,
    minBasketDepthUsd: 1_000,
    priceLimits: {},
    marks: [
      {
        from: 1_795_000_000,
        to: 1_795_000_600,
        chains: chains.map(({ name }) => name),
        text: 'A test – marked',
        link: null,
      },
    ],
    priceFeedIds: {},
    tiers: { free: { creditsPerMinute: 1e9 }, developer: { creditsPerMinute: 1e9 }, pro: { creditsPerMinute: 1e9 } },
    metricsPort: null,
    keylessRequestsPerMinute: 1e9,
    webhookLocalReceivers: true,
    datasets: { folder: null, refreshSeconds: 0, bytesPerHour: 1e12, url: null },
    demo: false,
    demoBlockSeconds: 6,
    recordings: [],
  };
}

/** Starts the service on the recorded node, which begins at `startHeight`, or at the recorded tip. */
export async function startService({
  startHeight,
  ...options
}: ServiceOptions & { readonly startHeight?: number } = {}): Promise<RunningService> {
  const from = startHeight === undefined ? {} : { startHeight };
  return startServiceOn(
    await startRecordedNode({ folder: RECORDING, user: 'test', password: 'secret', ...from }),
    options,
  );
}

/** The node is stopped with the service. */
export async function startServiceOn<Node extends FollowedNode>(
  node: Node,
  {
    push,
    webhooks,
    health,
    page,
    daemonTiming: timing,
    limits,
    cutover,
    publicHosts = null,
    silentChains = [],
    datasets,
    chain: settings,
  }: ServiceOptions = {},
): Promise<RunningService<Node>> {
  const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const folder = await mkdtemp(join(tmpdir(), 'verustream-api-'));
  const stores = await createTestStores();
  const log = createEmbeddedEventLog({ folder });
  const chain = chainOf({ name: CHAIN, rpc: node.url, rootCurrency: 'VRSCTEST', stableAnchors: [USDX], ...settings });
  const silent = silentChains.map((name) =>
    chainOf({ name, rpc: 'http://127.0.0.1:1', rootCurrency: name, stableAnchors: [] }),
  );
  const given = { ...limits, publicHosts, ...(cutover !== undefined && { cutover }), ...(datasets && { datasets }) };
  const config = { ...configOf([chain, ...silent]), ...given };
  const reporter = createStageReporter(stores.postgres, logger);
  const report = (statuses: readonly DaemonStatus[]) => reporter.daemons(CHAIN, statuses);
  const group = { rpc: node.url, chain: CHAIN, chainId: NATIVE, logger, report, ...(timing && { timing }) };
  const daemons = new Map([
    [CHAIN, createDaemonGroup(group)],
    ...silent.map(({ name, rpc }) => [name, createDaemonGroup({ rpc, chain: name, logger })] as const),
  ]);
  const stop = new AbortController();
  const topics = createTopicReader(log);
  const stages = runStages({ config, stores, log, topics, daemons, reporter, logger, signal: stop.signal });

  const serve = (
    signal: AbortSignal,
    { port = 0, limits: own, ...kept }: Parameters<RunningService['startAnother']>[0] = {},
  ) =>
    startApi({
      config: { ...config, ...own, port },
      release: 'test',
      stores,
      topics,
      daemons,
      mempools: openMempools(config, daemons, new Map(), stores.postgres.pool, logger),
      logger,
      signal,
      ...(push && { push }),
      ...(webhooks && { webhooks }),
      ...(health && { health }),
      ...(page && { page }),
      ...kept,
    });
  let api = await serve(stop.signal);

  async function settled(priced = false): Promise<void> {
    const stage = priced ? 'price' : 'derive';
    const sql = 'SELECT height, hash FROM stage_positions WHERE stage = $1 AND chain = $2';
    let at: { height: number; hash: string } | undefined;
    for (let stands = 0; stands < STANDS_STILL_MS; stands += POLL_MS) {
      const { rows } = await stores.postgres.pool.query<{ height: number; hash: string }>(sql, [stage, CHAIN]);
      if (rows[0]?.height === node.height && rows[0].hash === node.hash) return;
      if (rows[0]?.hash !== at?.hash) stands = 0;
      at = rows[0];
      await sleep(POLL_MS);
    }
    throw new Error(
      `${stage} stands at block ${at?.height ?? 'none'} of ${node.height} for a minute\n${await whatIsUnderWay()}`,
    );
  }

  return {
    context: { config, stores, log, logger, signal: stop.signal },
    node,
    stores,
    get url() {
      return `http://127.0.0.1:${api.port}`;
    },
    get port() {
      return api.port;
    },
    settled,
    startAnother: (another) => serve(stop.signal, another),
    startSecondApi: ({ port = 0, ...kept } = {}) =>
      startSecondProcess({
        config: { ...config, port },
        databaseUrl: stores.databaseUrl,
        logFolder: folder,
        ...(push && { push }),
        ...(webhooks && { webhooks }),
        ...kept,
      }),
    async issueKey(tier) {
      const holder = { chain: CHAIN, identityAddress: ALICE };
      await setTier(stores.postgres, holder, tier);
      const issued = await createKey(stores.postgres, holder, 'test');
      if (!issued) throw new Error('no more keys');
      return issued.key;
    },
    async restartApi() {
      await api.close();
      api = await serve(stop.signal);
    },
    async stop() {
      stop.abort();
      await whatKeeps('the API', api.close());
      await whatKeeps('the stages', stages);
      for (const client of daemons.values()) await whatKeeps('a daemon', client.close());
      await whatKeeps('the reporter', reporter.close());
      await whatKeeps('the recorded node', node.stop());
      await log.close();
      await whatKeeps('the stores', stores.close());
      await rm(folder, { recursive: true, force: true });
    },
  };
}
