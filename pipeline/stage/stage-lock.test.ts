import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { waitOutInserts } from '../sinks/clickhouse/wait-out-inserts.ts';
import { acquireStageLock, fencedBy, LEASE_MS, StageLockLost } from './stage-lock.ts';

let stores: TestStores;
const never = new AbortController().signal;

beforeAll(async () => {
  stores = await createTestStores();
});

afterAll(() => stores.close());

/** The backend that holds the advisory lock of the only owner. */
async function ownerPid(): Promise<number> {
  const { rows } = await stores.postgres.pool.query<{ pid: number }>(
    `SELECT DISTINCT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  expect(rows).toHaveLength(1);
  return rows[0]?.pid ?? 0;
}

describe('a stage lock', () => {
  it('has one owner; the next owner gets it when it is released', async () => {
    const first = await acquireStageLock(stores.postgres, 'derive', 'one', never);
    let second = false;
    let taken = 0;
    const waiting = acquireStageLock(stores.postgres, 'derive', 'one', never, () => taken++).then((lock) => {
      second = true;
      return lock;
    });
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(second).toBe(false);
    expect(taken).toBe(1);
    await first.release();
    await (await waiting).release();
    expect(second).toBe(true);
    await (await acquireStageLock(stores.postgres, 'derive', 'one', never, () => taken++)).release();
    expect(taken).toBe(1);
  });

  it('lets the server notice soon that the machine of its owner has vanished', async () => {
    const lock = await acquireStageLock(stores.postgres, 'derive', 'one', never);
    // A Unix socket shows no values, but who has set them.
    const sql = `SELECT name FROM pg_settings WHERE name LIKE 'tcp_%' AND source = 'session' ORDER BY name`;
    const { rows } = await lock.transaction((client) => client.query<{ name: string }>(sql));
    const names = ['tcp_keepalives_count', 'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_user_timeout'];
    expect(rows.map(({ name }) => name)).toEqual(names);
    await lock.release();
  });

  it('is separate for each stage and chain', async () => {
    const locks = await Promise.all([
      acquireStageLock(stores.postgres, 'derive', 'one', never),
      acquireStageLock(stores.postgres, 'derive', 'other', never),
      acquireStageLock(stores.postgres, 'price', 'one', never),
    ]);
    for (const lock of locks) await lock.release();
  });

  it('stops waiting when the signal aborts', async () => {
    const held = await acquireStageLock(stores.postgres, 'derive', 'one', never);
    await expect(acquireStageLock(stores.postgres, 'derive', 'one', AbortSignal.timeout(50))).rejects.toThrow();
    await held.release();
    const free = await acquireStageLock(stores.postgres, 'derive', 'one', never);
    await free.release();
  });

  it('receives notifications of its channel between and during transactions', async () => {
    const lock = await acquireStageLock(stores.postgres, 'derive', 'one', never);
    const heard: string[] = [];
    await lock.listen('some_channel', (payload) => heard.push(payload));
    const notify = (channel: string, payload: string) =>
      stores.postgres.pool.query('SELECT pg_notify($1, $2)', [channel, payload]);
    await notify('some_channel', 'first');
    await notify('other_channel', 'never');
    await expect.poll(() => heard).toEqual(['first']);
    await lock.transaction(() => notify('some_channel', 'second'));
    await expect.poll(() => heard).toEqual(['first', 'second']);
    await lock.release();
  });

  it('commits when the work resolves and rolls back when it rejects', async () => {
    const lock = await acquireStageLock(stores.postgres, 'derive', 'one', never);
    const insert = `INSERT INTO stage_positions VALUES ('test', 'one', 1, 1, '\\x00', 1)`;
    await expect(
      lock.transaction(async (client) => {
        await client.query(insert);
        throw new RangeError('no');
      }),
    ).rejects.toThrow(RangeError);
    await lock.transaction((client) => client.query(insert));
    await lock.release();
    const { rows } = await stores.postgres.pool.query(`SELECT * FROM stage_positions WHERE stage = 'test'`);
    expect(rows).toHaveLength(1);
  });

  it('prevents a commit by an owner whose session is gone, and gives the lock to the next owner', async () => {
    const old = await acquireStageLock(stores.postgres, 'derive', 'one', never);
    const held = await ownerPid();
    const late = old.transaction(async (client) => {
      await client.query(`INSERT INTO stage_positions VALUES ('late', 'one', 1, 1, '\\x00', 1)`);
      await stores.postgres.pool.query('SELECT pg_terminate_backend($1)', [held]);
      const next = await acquireStageLock(stores.postgres, 'derive', 'one', never);
      await next.release();
    });
    await expect(late).rejects.toThrow(StageLockLost);
    await expect(old.transaction(async () => undefined)).rejects.toThrow(StageLockLost);
    await old.release();
    const { rows } = await stores.postgres.pool.query(`SELECT * FROM stage_positions WHERE stage = 'late'`);
    expect(rows).toHaveLength(0);
  });
});

describe('ClickHouse, which knows no locks,', () => {
  const COLUMNS = ['name', 'sha256'];
  const written = () => stores.clickhouse.query("SELECT name FROM migrations WHERE name = 'late'");

  it('accepts writes of the owner for as long as it has the lock', async () => {
    const lock = await acquireStageLock(stores.postgres, 'derive', 'one', never);
    const { clickhouse } = fencedBy(lock, stores);
    await clickhouse.insert('migrations', COLUMNS, [['early', '']]);
    await new Promise((resolve) => setTimeout(resolve, 1.5 * LEASE_MS));
    await lock.transaction(() => clickhouse.command("DELETE FROM migrations WHERE name = 'early'"));
    await lock.release();
  });

  it('gets no write from an owner whose session is gone', async () => {
    const lock = await acquireStageLock(stores.postgres, 'derive', 'one', never);
    const { clickhouse } = fencedBy(lock, stores);
    const pid = await ownerPid();
    const late = lock.transaction(async () => {
      await stores.postgres.pool.query('SELECT pg_terminate_backend($1)', [pid]);
      const next = await acquireStageLock(stores.postgres, 'derive', 'one', never);
      await next.release();
      await clickhouse.insert('migrations', COLUMNS, [['late', '']]);
    });
    await expect(late).rejects.toThrow(StageLockLost);
    await expect(clickhouse.command('SELECT 1')).rejects.toThrow(StageLockLost);
    await lock.release();
    expect(await written()).toEqual([]);
  });

  it('gets no write from an owner whose process was paused and has not noticed the loss when it continues', async () => {
    const lock = await acquireStageLock(stores.postgres, 'derive', 'one', never);
    const { clickhouse } = fencedBy(lock, stores);
    const pid = await ownerPid();
    const late = lock.transaction(async () => {
      standStillWhile(`SELECT pg_terminate_backend(${pid})`);
      await clickhouse.insert('migrations', COLUMNS, [['late', '']]);
    });
    await expect(late).rejects.toThrow(StageLockLost);
    await lock.release();
    expect(await written()).toEqual([]);
  });

  it('is cut back by a new owner only after the lease of an owner in another process has expired', async () => {
    const began = performance.now();
    await waitOutInserts({ ...stores.clickhouse, isOwn: false }, never);
    expect(performance.now() - began).toBeGreaterThanOrEqual(LEASE_MS - 1);
  });
});

/** Blocks the event loop until the statement has run on another thread and the lease has expired. */
function standStillWhile(sql: string): void {
  const done = new Int32Array(new SharedArrayBuffer(4));
  const code = `
    const { url, pg, sql, done } = require('node:worker_threads').workerData;
    import(pg).then(async ({ default: { Client } }) => {
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.query(sql);
      await client.end();
      Atomics.store(done, 0, 1);
      Atomics.notify(done, 0);
    });`;
  new Worker(code, {
    eval: true,
    workerData: { url: stores.databaseUrl, pg: import.meta.resolve('pg'), sql, done },
  }).unref();
  expect(Atomics.wait(done, 0, 0, 60_000)).toBe('ok');
  Atomics.wait(done, 0, 1, LEASE_MS);
}
