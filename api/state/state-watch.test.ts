/** The watch sees notified changes at once, and all others at its next poll. */
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createStageReporter } from '../../pipeline/stage/stage-reporter.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { createStateWatch, type StateWatch } from './state-watch.ts';

const logger = pino({ level: 'silent' });
/** Longer than any test waits. */
const NEVER_MS = 3_600_000;
const FOLLOWING: StageStatus = {
  state: 'following',
  height: 7,
  targetHeight: 7,
  rate: 0,
  etaSeconds: 0,
  movedAt: null,
  error: null,
};

let stores: TestStores;
let watch: StateWatch;
/** A watch that never polls. */
let listening: StateWatch;

const open = (lookMs?: number) =>
  createStateWatch(
    stores.postgres,
    { release: 'test', chains: new Set(['vrsc']) },
    logger,
    new AbortController().signal,
    lookMs,
  );

beforeAll(async () => {
  stores = await createTestStores();
  watch = await open();
  listening = await open(NEVER_MS);
});
afterEach(() => stores.postgres.pool.query('DELETE FROM stage_status'));
afterAll(async () => {
  await watch?.stop();
  await listening?.stop();
  await stores?.close();
});

const errorOf = (of: StateWatch) => of.statuses.of('vrsc', 'tail')?.error?.code;

it('is notified of repeated failures of a stage, without polling', async () => {
  const reporter = createStageReporter(stores.postgres, logger);
  reporter.report('tail', 'vrsc', FOLLOWING);
  await reporter.flush();
  await expect.poll(() => listening.statuses.of('vrsc', 'tail')?.state).toBe('following');
  for (const code of ['daemon_silent', 'daemon_busy', 'daemon_unreachable']) {
    reporter.report('tail', 'vrsc', { ...FOLLOWING, error: { code, message: '' } });
    await expect.poll(() => errorOf(listening), { interval: 10 }).toBe(code);
  }
  await reporter.close();
});

it('polls for changes without a notification', async () => {
  await stores.postgres.pool.query(`INSERT INTO stage_status (stage, chain, status, updated_at)
    VALUES ('tail', 'vrsc', '{"error": {"code": "untold"}}', now())`);
  await expect.poll(() => errorOf(watch)).toBe('untold');
});

it('polls for a moved position without a notification', async () => {
  const { pool } = stores.postgres;
  await pool.query('ALTER TABLE stage_positions DISABLE TRIGGER notify');
  await pool.query(`INSERT INTO stage_positions (stage, chain, position, height, hash, clock)
    VALUES ('derive', 'vrsc', 41, 41, decode(repeat('00', 32), 'hex'), 0)`);
  await expect.poll(() => watch.state.derived.get('vrsc')?.height).toBe(41);
  await pool.query('ALTER TABLE stage_positions ENABLE TRIGGER notify');
});
