/** Usage counts in Postgres: each batch counts once, even if its answer is lost, and a burst takes few rows. */
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { readUsage } from './read-usage.ts';
import { startUsage } from './usage.ts';
import type { UsageStep } from './usage-steps.ts';

const OWNER = { chain: 'one', identityAddress: 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2' };
const PAYER = { ...OWNER, id: '0123456789abcdef', account: 'identity one i5f5', expiresAt: null };
const BURST = 100_000;
const ACCEPTED = { requests: 1, credits: 2, refusal: null };
const logger = pino({ level: 'silent' });

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
beforeEach(() => stores.postgres.pool.query('TRUNCATE account_usage, usage_batches'));
afterAll(() => stores.close());

async function creditsBy(step: UsageStep, by: 'key' | 'route' = 'key'): Promise<[string, number][]> {
  const asked = { step, by, from: 0, to: 9_999_999_999, keyId: null, limit: 1_000, after: null };
  const sums = new Map<string, number>();
  for (const { of, credits } of await readUsage(stores.postgres, OWNER, asked)) {
    sums.set(of, (sums.get(of) ?? 0) + Number(credits));
  }
  return [...sums];
}

it('a batch whose answer was lost counts once, and so does the next one', async () => {
  const { pool } = stores.postgres;
  let lost = 0;
  const losing = {
    async query(...asked: Parameters<typeof pool.query>) {
      const answer = await pool.query(...asked);
      if (lost++ < 2) throw new Error('the connection ended before its answer');
      return answer;
    },
  } as unknown as typeof pool;
  const usage = startUsage({ postgres: { pool: losing }, process: 'a', logger });
  usage.record(PAYER, '/a', ACCEPTED);
  await expect(usage.flush()).rejects.toThrow('before its answer');
  usage.record(PAYER, '/a', ACCEPTED);
  await expect(usage.flush()).rejects.toThrow('before its answer');
  await usage.stop();
  for (const step of ['minute', 'hour', 'day'] as const) expect(await creditsBy(step)).toEqual([[PAYER.id, 4]]);
});

it('a burst from two processes takes few rows, exact to the credit, for keys and sessions', async () => {
  const processes = ['a', 'b'].map((process) => startUsage({ postgres: stores.postgres, process, logger }));
  const session = { ...PAYER, id: 'f'.repeat(64), expiresAt: new Date() };
  for (let n = 0; n < BURST; n++) {
    const usage = processes[n % 2];
    usage?.record(n % 10 === 0 ? session : PAYER, n % 3 === 0 ? '/a' : '/b', ACCEPTED);
    if (n % 1_000 === 0) usage?.record(PAYER, '/a', { requests: 1, credits: 5, refusal: null })();
    if (n % 25_000 === 0) await Promise.all(processes.map((each) => each.flush()));
  }
  await Promise.all(processes.map((usage) => usage.stop()));
  const [ofSessions, ofKeys] = [BURST / 10, BURST - BURST / 10].map((requests) => requests * ACCEPTED.credits);
  expect(new Map(await creditsBy('day'))).toEqual(
    new Map([
      ['session', ofSessions],
      [PAYER.id, ofKeys],
    ]),
  );
  const ofA = Math.ceil(BURST / 3) * ACCEPTED.credits;
  expect(new Map(await creditsBy('hour', 'route'))).toEqual(
    new Map([
      ['/a', ofA],
      ['/b', BURST * ACCEPTED.credits - ofA],
    ]),
  );
  const { rows } = await stores.postgres.pool.query<{ count: number; longest: number }>(
    'SELECT count(*)::int4 AS count, max(length(key_id))::int4 AS longest FROM account_usage',
  );
  expect(rows[0]?.count).toBeLessThan(50);
  expect(rows[0]?.longest).toBe(PAYER.id.length); // the digest of a session is not stored
});
