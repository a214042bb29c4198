/** Usage of the whole program, as /api/usage shows it: exactly the accepted requests, after a burst, SIGTERM and kill -9. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey, setTier } from '../../api/access/key-store.ts';
import { openSession } from '../../api/access/sessions.ts';
import { WRITTEN_WITHIN_S } from '../../api/access/usage.ts';
import { createRandom } from '../../recordings/player/faults.ts';
import { SEED } from '../setup/seed.ts';
import { createTestStores, type TestStores } from '../support/infra/test-stores.ts';
import { startClients } from './counting-clients.ts';
import { type Program, type ProgramSettings, startProgram } from './program.ts';
import { CHAIN, settingsFor, startNode, untilServed } from './recorded-chain.ts';

const BURST = 100_000;
const KILLS = Number(process.env.USAGE_KILLS ?? 2);
const MINUTES = 60_000;
/** Costs one credit; answered from memory. */
const READ = '/api/market/protocol';
/** alice@ of the recording. */
const OWNER = { chain: CHAIN, identityAddress: 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2' };

const random = createRandom(SEED);
let stores: TestStores;
let settings: ProgramSettings;
let program: Program;
/** Reads of the usage by this session are charged to its network and not counted. */
let session: string;

beforeAll(async () => {
  stores = await createTestStores();
  const node = await startNode(250);
  settings = { ...settingsFor(node.url), DATABASE_URL: stores.databaseUrl };
  program = await startProgram(settings, { lives: 'file' }).answers();
  await untilServed(program, node);
  await setTier(stores.postgres, OWNER, 'pro');
  session = (await openSession(stores.postgres, OWNER)).token;
}, 5 * MINUTES);
afterAll(() => stores?.close());

async function newKey(): Promise<{ readonly id: string; readonly key: string }> {
  const made = await createKey(stores.postgres, OWNER, 'test');
  if (!made) throw new Error('no more keys');
  return { id: made.row.id, key: made.key };
}

async function creditsOf(id: string): Promise<number> {
  const answer = await fetch(`${program.base}/api/usage?key=${id}`, {
    headers: { authorization: `Bearer ${session}` },
  });
  expect(answer.status).toBe(200);
  const { results } = (await answer.json()) as { results: { credits: number }[] };
  return results.reduce((sum, { credits }) => sum + credits, 0);
}

async function startAgain(): Promise<void> {
  program = await startProgram(settings, { lives: 'file' }).answers();
}

it(
  `a burst of ${BURST} requests appears soon after its end, with exactly that number`,
  async () => {
    const { id, key } = await newKey();
    const began = performance.now();
    const clients = startClients(program, { path: READ, key, connections: 32, most: BURST });
    await clients.ended;
    const end = performance.now();
    expect(clients.answeredAt).toHaveLength(BURST);
    await expect.poll(() => creditsOf(id), { interval: 100 }).toBe(BURST);
    const [took, shown] = [end - began, performance.now() - end].map((ms) => (ms / 1_000).toFixed(1));
    console.log(`usage: a burst of ${BURST} requests in ${took} s shows ${shown} s after its end`);
    await sleep(WRITTEN_WITHIN_S * 1_000);
    expect(await creditsOf(id)).toBe(BURST);
  },
  10 * MINUTES,
);

it('SIGTERM in the middle of requests: usage equals the answered requests, to the credit', async () => {
  const { id, key } = await newKey();
  const clients = startClients(program, { path: READ, key, connections: 8, pauseMs: 2 });
  await sleep(1_500);
  const asked = clients.sent;
  expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
  await clients.ended;
  expect(clients.answeredAt.length).toBeGreaterThanOrEqual(asked - 8);
  await startAgain();
  expect(await creditsOf(id)).toBe(clients.answeredAt.length);
});

/** Times at which the program's batches were written, in milliseconds since the epoch, as observed from now on. */
function watchBatches() {
  const began = Date.now();
  const moments: number[] = [];
  const sql = 'SELECT extract(epoch FROM max(written_at))::float8 * 1000 AS at FROM usage_batches';
  return {
    moments,
    async look(): Promise<void> {
      const { rows } = await stores.postgres.pool.query<{ at: number | null }>(sql);
      const at = rows[0]?.at ?? 0;
      if (at > (moments.at(-1) ?? began)) moments.push(at);
    },
    /** Shortest time between two consecutive batches, in seconds. */
    shortestPause: () => Math.min(...moments.slice(1).map((at, index) => at - (moments[index] ?? 0))) / 1_000,
  };
}

/**
 * Converts a time since the epoch to the test's own clock. The two clocks cannot be read at once, so the closest of several readings is
 * used.
 */
function onOwnClock(at: number): number {
  return at - Math.max(...Array.from({ length: 5 }, () => Date.now() - performance.now()));
}

it(
  `${KILLS} times kill -9 (TEST_SEED=${SEED}): usage lacks at most the last ${WRITTEN_WITHIN_S} s, and is never above what was accepted`,
  async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      const { id, key } = await newKey();
      const clients = startClients(program, { path: READ, key, connections: 8, pauseMs: 5 });
      await expect.poll(() => clients.answeredAt.length).toBeGreaterThan(0);
      const batches = watchBatches();
      // A busy machine lengthens pauses, so only one observed pause has to be as short as promised.
      const pause = async () => {
        await batches.look();
        return batches.shortestPause();
      };
      await expect.poll(pause, { interval: 100 }).toBeLessThanOrEqual(WRITTEN_WITHIN_S);
      const end = performance.now() + 1_000 + random() * 2_000;
      while (performance.now() < end) {
        await sleep(100);
        await batches.look();
      }
      await program.kill('SIGKILL');
      await clients.ended;
      const { sent, answeredAt } = clients;
      // The newest batch began after the previous one was written, so it contains everything that was answered by then.
      const begun = onOwnClock(batches.moments.at(-2) ?? Number.NaN);
      const written = answeredAt.filter((at) => at < begun).length;
      expect(written).toBeGreaterThan(0);
      await startAgain();
      const credits = await creditsOf(id);
      expect(credits).toBeGreaterThanOrEqual(written);
      expect(credits).toBeLessThanOrEqual(sent); // each request is accepted at most once
      console.log(
        `usage: of ${sent} requests ${answeredAt.length} were answered before kill -9, ${credits} are counted`,
      );
    }
  },
  10 * MINUTES,
);
