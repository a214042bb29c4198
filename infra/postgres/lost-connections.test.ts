/** The server ends a connection in each possible state: its user gets an error, the next connection works, and nothing else happens. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRandom } from '../../recordings/player/faults.ts';
import { SEED } from '../../test/setup/seed.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { copyRows } from './copy.ts';
import { listen } from './listen.ts';
import { connectPostgres, type Postgres } from './postgres.ts';
import { postgresTrouble } from './postgres-errors.ts';
import { openReader, type PostgresReader } from './reader.ts';

const random = createRandom(SEED);
const ROUNDS = 40;
const ANYTHING = { name: undefined, text: 'SELECT 1' };

let stores: TestStores;
let postgres: Postgres;
let reader: PostgresReader;
let lines: { readonly msg: string; readonly lost?: number }[];

beforeAll(async () => {
  stores = await createTestStores();
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  postgres = await connectPostgres({ url: stores.databaseUrl, logger, maxConnections: 6 });
  reader = openReader(postgres, { maxConnections: 4, statementMs: 5000 });
  await postgres.pool.query('CREATE TABLE numbers (n integer)');
});

beforeEach(() => {
  lines = [];
});

afterAll(async () => {
  await reader.close();
  await postgres.close();
  await stores.close();
});

/** Ends the matching connections through a connection of another pool. */
async function end(condition: string): Promise<void> {
  await stores.postgres.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`,
  );
}

const untilRuns = (text: string) =>
  expect.poll(async () => {
    const sql = 'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND position($1 IN query) = 1';
    return (await stores.postgres.pool.query(sql, [text])).rowCount;
  });

async function errorCode(work: Promise<unknown>): Promise<string | undefined> {
  const error = await work.then(
    () => new Error('it succeeded'),
    (thrown: unknown) => thrown,
  );
  return postgresTrouble(error)?.code;
}

/** Endless rows, so that the COPY is still running when the server ends its connection. */
function* endlessly(): Iterable<readonly [number]> {
  for (let n = 0; ; n = (n + 1) % 1000) yield [n];
}

describe('a connection that the server ends', () => {
  it('while it is idle in the pool: the next statement uses another', async () => {
    await postgres.pool.query('SELECT 1');
    await end("state = 'idle'");
    await expect.poll(() => lines.length).toBe(1); // the pool has seen it
    expect((await postgres.pool.query('SELECT 2 AS n')).rows).toEqual([{ n: 2 }]);
    await expect.poll(() => lines.map(({ msg }) => msg)).toEqual([expect.stringMatching(/^(a|\d+) .*lost: /)]);
  });

  it('between two statements of a transaction: the transaction is rolled back', async () => {
    const work = postgres.transaction(async (client) => {
      await client.query('INSERT INTO numbers VALUES (1)');
      await end("state = 'idle in transaction'");
      await sleep(100);
      await client.query('INSERT INTO numbers VALUES (2)');
    });
    expect(await errorCode(work)).toBe('postgres_unreachable');
    expect((await postgres.pool.query('SELECT * FROM numbers')).rows).toEqual([]);
  });

  it('in the middle of a statement, and while it waits for a lock', async () => {
    const slow = errorCode(postgres.transaction((client) => client.query('SELECT pg_sleep(60)')));
    await untilRuns('SELECT pg_sleep').toBe(1);
    await stores.postgres.transaction(async (holder) => {
      await holder.query('SELECT pg_advisory_xact_lock(7)');
      const waiting = errorCode(postgres.transaction((client) => client.query('SELECT pg_advisory_xact_lock(7), 1')));
      await untilRuns('SELECT pg_advisory_xact_lock(7), 1').toBe(1);
      await end("state = 'active'");
      expect(await Promise.all([slow, waiting])).toEqual(['postgres_unreachable', 'postgres_unreachable']);
    });
  });

  it('in the middle of a COPY', async () => {
    const copying = errorCode(postgres.transaction((client) => copyRows(client, 'numbers', ['n'], endlessly())));
    await untilRuns('COPY numbers').toBe(1);
    await end("query LIKE 'COPY%'");
    expect(await copying).toBe('postgres_unreachable');
    expect((await postgres.pool.query('SELECT * FROM numbers')).rows).toEqual([]);
  });

  it('that listens: the loss is reported, and later notifications are received', async () => {
    let heard = 0;
    const listener = listen(postgres, 'news', () => heard++, pino({ level: 'silent' }));
    await expect.poll(() => listener.heardWithin(1000)).toBe(true);
    await end("query IN ('LISTEN news', 'SELECT 1')");
    await expect.poll(() => listener.heardWithin(100_000)).toBe(false);
    await expect.poll(() => listener.heardWithin(1000)).toBe(true);
    const before = heard;
    await stores.postgres.pool.query('NOTIFY news');
    await expect.poll(() => heard).toBeGreaterThan(before);
    await listener.stop();
  });

  it('in a snapshot of a reader', async () => {
    const work = reader.snapshot('SELECT 1', async (_, query) => {
      await end("state = 'idle in transaction'");
      await sleep(100);
      return query(ANYTHING, []);
    });
    expect(await errorCode(work)).toBe('postgres_unreachable');
    expect(await reader.query(ANYTHING, [])).toHaveLength(1);
  });
});

it(`${ROUNDS} rounds of everything at once while connections end (TEST_SEED=${SEED}): each succeeds or gets an error, none hangs`, async () => {
  const works: readonly (() => Promise<unknown>)[] = [
    () => postgres.pool.query('SELECT pg_sleep($1::float8)', [random() / 20]),
    () =>
      postgres.transaction(async (client) => {
        await client.query('INSERT INTO numbers VALUES (1)');
        await sleep(random() * 20);
        await client.query('DELETE FROM numbers');
      }),
    () => postgres.transaction((client) => copyRows(client, 'numbers', ['n'], [[1], [2]])),
    () => reader.query({ name: 'again', text: 'SELECT pg_sleep(0.01)' }, []),
    () => reader.snapshot('SELECT 1', (_, query) => query(ANYTHING, [])),
    () => reader.parameterTypes('SELECT $1::integer'),
  ];
  const outcomes = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const all = works.map(async (work) => {
      const error = await work().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      const outcome = error === null ? 'done' : (postgresTrouble(error)?.code ?? String(error));
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    });
    await sleep(random() * 20);
    await end("application_name LIKE 'verustream%'");
    await Promise.all(all);
  }
  expect([...outcomes.keys()].sort()).toEqual(['done', 'postgres_unreachable']);
  // The pool may hand out a connection once more before it notices that the server has ended it.
  const answers = async () => (await postgres.pool.query('SELECT 1').catch(() => null))?.rowCount;
  await expect.poll(answers).toBe(1);
});
