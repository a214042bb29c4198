/** The watch sees notified changes at once, and all others at its next poll. */
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createStageReporter } from '../../pipeline/stage/stage-reporter.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { createStateWatch, type StateWatch } from './state-watch.ts';

const logger = pino({ level: 'silent' });
const NOTIFIED_MS = 700;
const POLLED_MS = 3_000;
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

beforeAll(async () => {
  stores = await createTestStores();
  watch = await createStateWatch(
    stores.postgres,
    { release: 'test', chains: new Set(['vrsc']) },
    logger,
    new AbortController().signal,
  );
});
afterEach(() => stores.postgres.pool.query('DELETE FROM stage_status'));
afterAll(async () => {
  await watch?.stop();
  await stores?.close();
});

const errorOf = () => watch.statuses.of('vrsc', 'tail')?.error?.code;

it('hears of a failure of a stage, several times between two looks', async () => {
  const reporter = createStageReporter(stores.postgres, logger);
  reporter.report('tail', 'vrsc', FOLLOWING);
  await reporter.flush();
  await expect.poll(() => watch.statuses.of('vrsc', 'tail')?.state, { timeout: POLLED_MS }).toBe('following');
  const began = performance.now();
  for (const code of ['daemon_silent', 'daemon_busy', 'daemon_unreachable']) {
    reporter.report('tail', 'vrsc', { ...FOLLOWING, error: { code, message: '' } });
    await expect.poll(errorOf, { timeout: NOTIFIED_MS, interval: 10 }).toBe(code);
  }
  // Looks alone would have taken three seconds.
  expect(performance.now() - began).toBeLessThan(3 * NOTIFIED_MS);
  await reporter.close();
});

it('sees what nobody told it', async () => {
  await stores.postgres.pool.query(`INSERT INTO stage_status (stage, chain, status, updated_at)
    VALUES ('tail', 'vrsc', '{"error": {"code": "untold"}}', now())`);
  await expect.poll(errorOf, { timeout: POLLED_MS }).toBe('untold');
});

it('sees a moved position that nobody told it', async () => {
  const { pool } = stores.postgres;
  await pool.query('ALTER TABLE stage_positions DISABLE TRIGGER notify');
  await pool.query(`INSERT INTO stage_positions (stage, chain, position, height, hash, clock)
    VALUES ('derive', 'vrsc', 41, 41, decode(repeat('00', 32), 'hex'), 0)`);
  await expect.poll(() => watch.state.derived.get('vrsc')?.height, { timeout: POLLED_MS }).toBe(41);
  await pool.query('ALTER TABLE stage_positions ENABLE TRIGGER notify');
});
