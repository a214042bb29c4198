/** The whole service on generated daemons; it notes when each block passes each hop. */
import { pino } from 'pino';
import { startApi } from '../../api/server.ts';
import { runStages } from '../../commands/run-stages.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import type { DaemonNotifications } from '../../infra/verusd/daemon-notifications.ts';
import { watchDaemons } from '../../infra/verusd/daemon-watch.ts';
import { createVerusdClient, type VerusdClient } from '../../infra/verusd/verusd-client.ts';
import { openZmqNotifications } from '../../infra/verusd/zmq-notifications.ts';
import { createStageReporter } from '../../pipeline/stage/stage-reporter.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import type { ReportingStage } from '../../schemas/stages.ts';
import { connectedBlock } from '../../schemas/verusd/zmq-message.ts';
import { configOf } from '../../test/api/running-service.ts';
import { chainConfig, createTestLog } from '../../test/laws/replay.ts';
import { createTestStores } from '../../test/support/infra/test-stores.ts';
import { monotonicMs } from '../monotonic.ts';
import type { ReadyChain } from '../ready-daemon/ready-daemon.ts';

/** In the order in which a block passes them. */
export const HOPS = ['heard', 'fetched', 'in the log', 'derived and committed', 'priced'] as const;
export type Hop = (typeof HOPS)[number];

const STAGE_HOPS: Readonly<Record<ReportingStage, Hop>> = {
  tail: 'in the log',
  derive: 'derived and committed',
  price: 'priced',
};

export interface FollowingService {
  readonly port: number;
  /** Time when a block passed a hop, by the machine's monotonic clock. */
  passed(
    hop: Hop,
    block: { readonly chain: string; readonly height: number; readonly hash: string },
  ): number | undefined;
  /** Resolves once every chain is priced up to this height, provisionally or finally. */
  reaches(height: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startFollowing(chains: readonly ReadyChain[], usesZmq: boolean): Promise<FollowingService> {
  const logger = pino({ level: 'warn' });
  const log = await createTestLog();
  const stores = await createTestStores();
  const config = configOf(chains.map(({ name, rpc }) => ({ ...chainConfig(name), rpc })));
  const passed = new Map<string, number>();
  const reached = new Map<string, number>();
  const pass = (hop: Hop, key: string): void => {
    if (!passed.has(`${hop} ${key}`)) passed.set(`${hop} ${key}`, monotonicMs());
  };

  function watched({ name, rpc }: ReadyChain): VerusdClient {
    const client = createVerusdClient({ rpc, chain: name, logger });
    return {
      ...client,
      async callRaw(method, params, options) {
        const raw = await client.callRaw(method, params, options);
        pass('fetched', (raw.value as { hash: string }).hash);
        return raw;
      },
    };
  }

  const daemons = new Map(chains.map((chain) => [chain.name, watched(chain)]));
  // Polls the daemons' health once a second, as the service does.
  const watches = chains.map(({ name, rpc }) =>
    watchDaemons({ chain: name, rpc: [rpc], logger, report: () => undefined }),
  );
  const notifications = new Map<string, DaemonNotifications>();
  for (const { name: chain, zmq } of usesZmq ? chains : []) {
    const heard = await openZmqNotifications({ chain, addresses: [zmq], blockSeconds: 60, logger });
    heard.subscribe((notification) => pass('heard', connectedBlock(notification) ?? ''));
    notifications.set(chain, heard);
  }
  const stored = createStageReporter(stores.postgres, logger);
  const reporter = {
    ...stored,
    report(stage: ReportingStage, chain: string, status: StageStatus) {
      const height = (status.height ?? -1) + (status.aheadBlocks ?? 0);
      const key = `${stage} ${chain}`;
      for (let at = (reached.get(key) ?? -1) + 1; at <= height; at += 1) pass(STAGE_HOPS[stage], `${chain} ${at}`);
      reached.set(key, Math.max(height, reached.get(key) ?? -1));
      stored.report(stage, chain, status);
    },
  };
  const stop = new AbortController();
  const { signal } = stop;
  const topics = createTopicReader(log);
  const stages = runStages({ config, stores, log, topics, daemons, notifications, reporter, logger, signal });
  const api = await startApi({ config, release: 'benchmark', stores, topics, daemons, logger, signal });

  return {
    port: api.port,
    passed: (hop, { chain, height, hash }) =>
      passed.get(`${hop} ${hop === 'heard' || hop === 'fetched' ? hash : `${chain} ${height}`}`),
    async reaches(height) {
      const isThere = () => chains.every(({ name }) => (reached.get(`price ${name}`) ?? -1) >= height);
      while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 50));
    },
    async stop() {
      stop.abort();
      await api.close();
      await stages;
      await stored.close();
      for (const heard of notifications.values()) await heard.close();
      for (const watch of watches) await watch.close();
      for (const client of daemons.values()) await client.close();
      await stores.close();
      await log.drop();
    },
  };
}
