/** The status of stages and daemons in Postgres, and which process refreshes its heartbeat. */
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { DAEMONS } from '../../schemas/daemon-status.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { createStageReporter, type StageReporter } from './stage-reporter.ts';

const logger = pino({ level: 'silent' });
let stores: TestStores;
let first: StageReporter;
let second: StageReporter;
beforeAll(async () => {
  stores = await createTestStores();
});
beforeEach(() => {
  first = createStageReporter(stores.postgres, logger);
  second = createStageReporter(stores.postgres, logger);
});
afterEach(async () => {
  await Promise.all([first.close(), second.close()]);
  await stores.postgres.pool.query('DELETE FROM stage_status');
});
afterAll(() => stores?.close());

const FOLLOWING: StageStatus = {
  state: 'following',
  height: 7,
  targetHeight: 7,
  rate: 0,
  etaSeconds: 0,
  movedAt: '2026-11-21T12:00:00.000Z',
  error: null,
};
const failing = (code: string, message = ''): StageStatus => ({
  ...FOLLOWING,
  state: 'waiting',
  error: { code, message },
});

async function rows(): Promise<{ stage: string; age: number; status: StageStatus }[]> {
  const { rows: found } = await stores.postgres.pool.query<{ stage: string; age: number; status: string }>(
    'SELECT stage, extract(epoch FROM now() - updated_at)::float8 AS age, status FROM stage_status ORDER BY stage',
  );
  return found.map((row) => ({ ...row, status: JSON.parse(row.status) as StageStatus }));
}
const makeOld = () => stores.postgres.pool.query(`UPDATE stage_status SET updated_at = now() - interval '1 hour'`);

it('only the process that wrote a row last refreshes its heartbeat', async () => {
  first.report('tail', 'vrsc', FOLLOWING);
  first.daemons('vrsc', []);
  await first.flush();
  second.report('derive', 'vrsc', FOLLOWING);
  await second.flush();
  await makeOld();
  await first.flush();
  const young = (await rows()).filter(({ age }) => age < 60);
  expect(young.map(({ stage }) => stage)).toEqual([DAEMONS, 'tail']);
});

it('a former owner of a stage does not replace the status of its new owner', async () => {
  first.claim('derive', 'vrsc');
  first.report('derive', 'vrsc', FOLLOWING);
  await first.flush();
  second.claim('derive', 'vrsc');
  second.report('derive', 'vrsc', { ...FOLLOWING, height: 8 });
  await second.flush();
  first.report('derive', 'vrsc', failing('stage_lock_lost'));
  await first.flush();
  expect(await rows()).toMatchObject([{ status: { state: 'following', height: 8, error: null } }]);
});

it('the status of a process that waits for a stage appears once the owner is silent, and replaces it at once after a takeover', async () => {
  first.claim('tail', 'vrsc');
  first.report('tail', 'vrsc', FOLLOWING);
  await first.flush();
  second.report('tail', 'vrsc', failing('log_unreachable'));
  await second.flush();
  expect(await rows()).toMatchObject([{ status: { state: 'following' } }]);
  await makeOld();
  await second.flush();
  expect(await rows()).toMatchObject([{ status: { error: { code: 'log_unreachable' } } }]);
  first.claim('tail', 'vrsc');
  first.report('tail', 'vrsc', FOLLOWING);
  await first.flush();
  expect(await rows()).toMatchObject([{ status: { state: 'following' } }]);
});

it('a process that ends gives up its rows, so that the next one need not wait until they are silent', async () => {
  first.claim('tail', 'vrsc');
  first.report('tail', 'vrsc', FOLLOWING);
  await first.close();
  second.report('tail', 'vrsc', failing('log_unreachable'));
  await second.flush();
  expect(await rows()).toMatchObject([{ status: { error: { code: 'log_unreachable' } } }]);
});

it('a process that takes a stage over refreshes its heartbeat from then on', async () => {
  first.report('tail', 'vrsc', failing('log_writer_fenced'));
  await first.flush();
  second.claim('tail', 'vrsc');
  second.report('tail', 'vrsc', FOLLOWING);
  await second.flush();
  await makeOld();
  await first.flush();
  expect(await rows()).toMatchObject([{ status: { state: 'following' }, age: expect.closeTo(3600, -2) }]);
  await second.flush();
  expect((await rows())[0]?.age).toBeLessThan(60);
});

it('an error is written at once, and so is its end', async () => {
  first.report('tail', 'vrsc', FOLLOWING);
  await first.flush();
  const errorOf = async () => (await rows())[0]?.status.error?.code ?? null;
  const { query } = stores.postgres.pool;
  let written = 0;
  Object.assign(stores.postgres.pool, {
    query: (...asked: Parameters<typeof query>) => {
      written += 1;
      return Reflect.apply(query, stores.postgres.pool, asked);
    },
  });
  first.report('tail', 'vrsc', failing('daemon_timeout'));
  await Promise.resolve();
  expect(written).toBe(1);
  Object.assign(stores.postgres.pool, { query });
  await expect.poll(errorOf).toBe('daemon_timeout');
  first.report('tail', 'vrsc', FOLLOWING);
  await expect.poll(errorOf).toBe(null);
});

it('the last status of a stage is kept until Postgres accepts it', async () => {
  const { query } = stores.postgres.pool;
  Object.assign(stores.postgres.pool, { query: () => Promise.reject(new Error('away')) });
  first.report('tail', 'vrsc', failing('log_corrupt'));
  first.report('derive', 'vrsc', failing('postgres_full'));
  await first.flush();
  first.report('derive', 'vrsc', FOLLOWING);
  Object.assign(stores.postgres.pool, { query });
  await first.flush();
  expect(await rows()).toMatchObject([
    { stage: 'derive', status: { error: null } },
    { stage: 'tail', status: { error: { code: 'log_corrupt' } } },
  ]);
});

it('replaces characters that Postgres cannot store', async () => {
  first.report('tail', 'vrsc', failing('daemon_garbage', 'a\0b\ud800c'));
  await first.flush();
  expect((await rows())[0]?.status.error?.message).toBe('a\ufffdb\ufffdc');
});

it('keeps the time of the newest block over a restart', async () => {
  first.report('tail', 'vrsc', FOLLOWING);
  await first.flush();
  second.claim('tail', 'vrsc');
  second.report('tail', 'vrsc', { ...FOLLOWING, state: 'starting', movedAt: null });
  await second.flush();
  expect(await rows()).toMatchObject([{ status: { state: 'starting', movedAt: FOLLOWING.movedAt } }]);
});

it('writes changes each second, and a heartbeat every three seconds without changes', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  try {
    let writes = 0;
    const query = async () => {
      writes += 1;
      return { rows: [] };
    };
    const reporter = createStageReporter({ ...stores.postgres, pool: { query } as unknown as pg.Pool }, logger);
    const secondly = async (rate: (second: number) => number) => {
      writes = 0;
      for (let second = 0; second < 12; second += 1) {
        reporter.report('tail', 'vrsc', { ...FOLLOWING, rate: rate(second) });
        await vi.advanceTimersByTimeAsync(1000);
      }
      return writes;
    };
    await secondly(() => 0);
    expect(await secondly(() => 0)).toBe(4);
    expect(await secondly((second) => second + 1)).toBe(12);
    await reporter.close();
  } finally {
    vi.useRealTimers();
  }
});
