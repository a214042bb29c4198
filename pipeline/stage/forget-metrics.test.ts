/** A process that has become a standby must not keep the values that it measured as the owner: the alerts take the largest of all processes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runStages, type StagesOptions } from '../../commands/run-stages.ts';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import { metrics, registry } from '../../infra/metrics.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import type { Config } from '../../schemas/config.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import { chainOf, configOf } from '../../test/api/running-service.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { acquireStageLock } from './stage-lock.ts';
import { createStageReporter } from './stage-reporter.ts';
import { supervise } from './supervise.ts';

const logger = pino({ level: 'silent' });
const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), 'verustream-standby-'));
let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(async () => {
  await stores.close();
  rmSync(folder, { recursive: true, force: true });
});

async function shown(chain: string): Promise<string[]> {
  const lines = (await registry.metrics()).split('\n');
  return lines.filter((line) => line.includes(`chain="${chain}"`)).map((line) => line.replace(/\{.*/, ''));
}

/** Runs stages of a chain whose daemon does not answer. */
function startStages(
  chain: string,
  roles: Config['roles'],
  shell: Pick<StagesOptions, 'log' | 'reporter' | 'signal'>,
): Promise<void> {
  const chains = [chainOf({ name: chain, rpc: 'http://127.0.0.1:1', rootCurrency: 'VRSCTEST', stableAnchors: [] })];
  const config = { ...configOf(chains), roles };
  const daemons = new Map([[chain, {} as VerusdClient]]);
  return runStages({ ...shell, config, stores, topics: createTopicReader(shell.log), daemons, logger });
}

it('forgets its values once another process owns the stages', async () => {
  const chain = 'standby';
  for (const stage of ['derive', 'price']) metrics.stageLag.set({ chain, stage }, 30);
  for (const measured of [metrics.deadLetters, metrics.invariantViolations, metrics.conversionsWithoutStamp])
    measured.set({ chain }, 1);
  metrics.digestMismatches.set({ chain, check: 'audit' }, 1);
  for (const ofPrice of [metrics.priceBlocksAhead, metrics.priceWaitsFor]) ofPrice.set({ chain }, 1);
  expect(await shown(chain)).toHaveLength(8);
  const owned = await Promise.all([
    acquireStageLock(stores.postgres, 'derive', chain, never),
    acquireStageLock(stores.postgres, 'price', ALL_CHAINS, never),
    acquireStageLock(stores.postgres, 'audit', ALL_CHAINS, never),
  ]);
  const end = new AbortController();
  const log = createEmbeddedEventLog({ folder });
  const reporter = createStageReporter(stores.postgres, logger);
  const running = startStages(chain, ['derive', 'price'], { log, reporter, signal: end.signal });
  await expect.poll(() => shown(chain), { timeout: 60_000 }).toEqual([]);
  end.abort();
  await running;
  await reporter.close();
  for (const lock of owned) await lock.release();
  await log.close();
}, 120_000);

it('shows the status of the process that has taken a stage over, although the former owner is alive', async () => {
  const chain = 'taken';
  const end = new AbortController();
  const log = createEmbeddedEventLog({ folder: join(folder, chain) });
  const [former, reporter] = [
    createStageReporter(stores.postgres, logger),
    createStageReporter(stores.postgres, logger),
  ];
  const status = { height: 7, targetHeight: 7, rate: 0, etaSeconds: 0, movedAt: null, error: null };
  former.claim('derive', chain);
  former.report('derive', chain, { ...status, state: 'waiting' });
  await former.flush();
  const running = startStages(chain, ['derive'], { log, reporter, signal: end.signal });
  const state = async () => {
    const sql = "SELECT status::jsonb ->> 'state' AS state FROM stage_status WHERE chain = $1";
    return (await stores.postgres.pool.query<{ state: string }>(sql, [chain])).rows[0]?.state;
  };
  await expect.poll(state, { timeout: 60_000 }).toBe('following');
  end.abort();
  await running;
  await Promise.all([former.close(), reporter.close()]);
  await log.close();
}, 120_000);

it('forgets the lag of a stage that has stopped for good, perhaps because another process has taken over', async () => {
  const reporter = createStageReporter(stores.postgres, logger);
  const status = { height: 7, targetHeight: 5_000, rate: 1, etaSeconds: null, movedAt: null, error: null };
  await supervise({
    stage: 'tail',
    chains: ['stopped'],
    run: async (report) => {
      report('stopped', { ...status, state: 'catching_up' });
      expect(await shown('stopped')).toContain('verustream_stage_lag_blocks');
      throw new PermanentError('log_writer_fenced', 'another writer');
    },
    reporter,
    logger,
    signal: never,
  });
  expect(await shown('stopped')).not.toContain('verustream_stage_lag_blocks');
  await reporter.close();
});
