import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestStores, type TestStores } from './test-stores.ts';
import { whatIsUnderWay } from './under-way.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores.close());

/** A report waits up to two minutes for the engine's stacks. */
const REPORT_MS = 180_000;

it('names the query that waits for a lock, the holder of the lock, and the delete that cannot begin', {
  timeout: 3 * REPORT_MS,
}, async () => {
  const { postgres, clickhouse } = stores;
  await clickhouse.command('CREATE TABLE held (height UInt32) ENGINE = MergeTree ORDER BY height');
  await clickhouse.command('INSERT INTO held SELECT number FROM numbers(10)');
  await clickhouse.command('SYSTEM STOP MERGES held');
  const holder = await postgres.pool.connect();
  const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid, pg_advisory_lock(7)');
  const waiting = [
    postgres.pool.query('SELECT pg_advisory_xact_lock(7)'),
    clickhouse.command('DELETE FROM held WHERE height > 5'),
  ];
  try {
    let said = '';
    const look = async () => {
      said = await whatIsUnderWay();
      return said;
    };
    await expect.poll(look, { timeout: REPORT_MS }).toMatch(/"blocked_by": \[\s*\d/);
    const report = JSON.parse(said) as { stores: { postgres: unknown }[] };
    expect(report.stores.flatMap((store) => store.postgres)).toContainEqual(
      expect.objectContaining({ blocked_by: [rows[0]?.pid], query: 'SELECT pg_advisory_xact_lock(7)' }),
    );
    await expect.poll(look, { timeout: REPORT_MS }).toContain('_row_exists = 0 WHERE height > 5');
  } finally {
    holder.release(true);
    await clickhouse.command('SYSTEM START MERGES held');
    await Promise.all(waiting);
  }
});
