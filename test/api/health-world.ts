/** A service whose stages report what the test sets: real stores, daemons over HTTP, a real API, and a clock that only the test moves. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { pino } from 'pino';
import { expect } from 'vitest';
import { startApi } from '../../api/server.ts';
import { run as runStatus } from '../../commands/status.ts';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import { READER_NAME } from '../../infra/postgres/reader.ts';
import { createDaemonGroup } from '../../infra/verusd/daemon-group.ts';
import { createStageReporter, type StageReporter } from '../../pipeline/stage/stage-reporter.ts';
import type { PublisherStatus } from '../../schemas/daemon-status.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { REPORTING_STAGES, type ReportingStage } from '../../schemas/stages.ts';
import { collectedOutput } from '../support/commands/collected-output.ts';
import { createTestStores, type TestStores } from '../support/infra/test-stores.ts';
import { type ScriptedDaemon, startScriptedDaemon } from '../support/infra/verusd/scripted-daemon.ts';
import { chainOf, configOf, NATIVE } from './running-service.ts';

export const CHAINS = ['vrsc', 'chips'] as const;
export type Chain = (typeof CHAINS)[number];
export const TIP = 100;

interface ShownReason {
  readonly code: string;
  readonly stage: string | null;
  readonly cause: string | null;
  readonly etaSeconds: number | null;
  readonly goneSince: string | null;
}
export interface Ready {
  readonly status: number;
  readonly reasons: readonly ShownReason[];
  readonly notes: readonly ShownReason[];
}

export interface HealthWorld {
  readonly stores: TestStores;
  readonly reporter: StageReporter;
  /** Two daemons of `vrsc`. */
  readonly daemons: readonly [ScriptedDaemon, ScriptedDaemon];
  /** Members of getinfo of both daemons that the test may change. */
  readonly info: { blocks: number; longestchain: number; chainid: string };
  /** Status of the first daemon's ZMQ publisher. */
  readonly said: { publisher?: PublisherStatus };
  /** Reports every stage of a chain as following at the tip, except for `changes`. */
  say(chain: Chain, changes?: Partial<Record<ReportingStage, Partial<StageStatus>>>): Promise<void>;
  ready(chain?: Chain): Promise<Ready>;
  health(): Promise<string>;
  /** The chain in /api/stats/status; null while that cannot be answered. */
  chainStatus(chain: Chain): Promise<{ readonly healthy: boolean; readonly height: number } | null>;
  /** Takes every connection over which requests read Postgres; returns a function that gives them back. */
  takeReaders(): Promise<() => void>;
  metrics(): Promise<string>;
  status(): Promise<{ readonly code: number; readonly text: string }>;
  /** Moves the clock, and checks all causes before and after that. */
  pass(seconds: number): Promise<void>;
  stop(): Promise<void>;
}

const OFTEN = { everyMs: 100, timeoutMs: 1000 };

export async function startHealthWorld(): Promise<HealthWorld> {
  const logger = pino({ level: 'silent' });
  const folder = await mkdtemp(join(tmpdir(), 'verustream-health-'));
  const stores = await createTestStores();
  const readers: pg.Pool[] = [];
  const { openPool } = stores.postgres;
  Object.assign(stores.postgres, {
    openPool(options: pg.PoolConfig) {
      const pool = openPool(options);
      if (options.application_name === READER_NAME) readers.push(pool);
      return pool;
    },
  });
  const log = createEmbeddedEventLog({ folder });
  const info = { blocks: TIP, longestchain: TIP, chainid: NATIVE };
  const said: HealthWorld['said'] = {};
  const methods = { getinfo: () => ({ ...info, name: 'VRSCTEST', connections: 8 }) };
  const daemons = [await startScriptedDaemon({ methods }), await startScriptedDaemon({ methods })] as const;
  const chains = CHAINS.map((name) => {
    const rpc = daemons[0].rpc;
    return chainOf({ name, rpc, rootCurrency: 'VRSCTEST', stableAnchors: [] });
  });
  const config = configOf(chains);
  const reporter = createStageReporter(stores.postgres, logger);
  const group = createDaemonGroup({
    rpc: daemons.map(({ rpc }) => rpc),
    chain: 'vrsc',
    chainId: NATIVE,
    logger,
    timing: OFTEN,
    report: (statuses) =>
      reporter.daemons(
        'vrsc',
        statuses.map((status, index) => (index === 0 ? { ...status, ...said } : status)),
      ),
  });
  await stores.postgres.pool.query(
    `INSERT INTO stage_positions (stage, chain, position, height, hash, clock)
     SELECT stage, chain, $1::integer, $1::integer, '\\xaa', 1 FROM unnest('{derive,price}'::text[]) AS stage, unnest($2::text[]) AS chain`,
    [TIP, CHAINS],
  );

  const clock = { ms: 0, looks: 0 };
  const now = () => {
    clock.looks += 1;
    return clock.ms;
  };

  async function say(chain: Chain, changes: Partial<Record<ReportingStage, Partial<StageStatus>>> = {}): Promise<void> {
    for (const stage of REPORTING_STAGES) {
      const fresh = { state: 'following', height: TIP, targetHeight: TIP, rate: 0, etaSeconds: 0 } as const;
      const status = { ...fresh, movedAt: new Date().toISOString(), error: null, ...changes[stage] };
      reporter.report(stage, chain, status);
    }
    await reporter.flush();
  }
  for (const chain of CHAINS) await say(chain);

  const stop = new AbortController();
  const api = await startApi({
    config,
    release: 'test',
    stores,
    topics: createTopicReader(log),
    daemons: new Map(CHAINS.map((chain) => [chain, group])),
    logger,
    signal: stop.signal,
    health: { everyMs: 25, now },
  });
  const get = (path: string) => fetch(`http://127.0.0.1:${api.port}${path}`);

  /** Waits for a complete check of the causes: each check reads the clock once. */
  async function looked(): Promise<void> {
    const seen = clock.looks;
    await expect.poll(() => clock.looks, { interval: 5 }).toBeGreaterThan(seen + 1);
  }

  return {
    stores,
    reporter,
    daemons,
    info,
    said,
    say,
    async ready(chain) {
      const answer = await get(`/api/health/ready${chain ? `?chain=${chain}` : ''}`);
      return { ...((await answer.json()) as Omit<Ready, 'status'>), status: answer.status };
    },
    health: async () => ((await (await get('/api/health')).json()) as { status: string }).status,
    async chainStatus(chain) {
      const answer = await get('/api/stats/status');
      if (answer.status !== 200) return null;
      const { chains: report } = (await answer.json()) as {
        chains: Record<Chain, { healthy: boolean; height: number }>;
      };
      return report[chain];
    },
    async takeReaders() {
      const taken = await Promise.all(
        readers.flatMap((pool) => Array.from({ length: pool.options.max }, () => pool.connect())),
      );
      return () => taken.forEach((client) => void client.release());
    },
    metrics: async () => (await get('/metrics')).text(),
    async status() {
      const { output, lines } = collectedOutput();
      const { exitCode } = await runStatus({ config, stores }, {}, output);
      return { code: exitCode, text: lines.join('\n') };
    },
    async pass(seconds) {
      await looked();
      clock.ms += seconds * 1000;
      await looked();
    },
    async stop() {
      stop.abort();
      await api.close();
      await group.close();
      await reporter.close();
      for (const daemon of daemons) await daemon.stop();
      await log.close();
      await stores.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
