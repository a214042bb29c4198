import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import type { Logger } from '../logger.ts';
import { progressOf, withProgress } from './migration-progress.ts';

const sample = (at: number, done: bigint | null, more = {}) => {
  const indexed = done === null ? null : 'outputs';
  const phase = done === null ? null : 'building index: scanning table';
  return { at, bytes: BigInt(at) * 2048n, indexed, phase, done, total: done === null ? null : 1000n, ...more };
};

describe('the progress of a change of tables', () => {
  it('has a rate and an estimate from the second line of a phase on', () => {
    const first = sample(10_000, 200n);
    expect(progressOf(null, first)).toEqual({ indexed: first.indexed, phase: first.phase, percent: 20 });
    expect(progressOf(first, sample(20_000, 400n))).toMatchObject({ percent: 40, perSecond: 20, etaSeconds: 30 });
    const sorting = progressOf(first, sample(20_000, 100n, { phase: 'building index: loading tuples in tree' }));
    expect([sorting.percent, sorting.perSecond, sorting.etaSeconds]).toEqual([10, undefined, undefined]);
    expect(progressOf(first, first)).toEqual({ indexed: first.indexed, phase: first.phase, percent: 20 });
  });

  it('is the growth of the database while rows are copied', () => {
    expect(progressOf(null, sample(10_000, null))).toEqual({});
    expect(progressOf(sample(10_000, null), sample(20_000, null))).toEqual({ megabytesPerSecond: 2 });
    expect(progressOf(sample(20_000, null), sample(30_000, null, { bytes: 0n }))).toEqual({ megabytesPerSecond: 0 });
  });
});

describe('a change of tables', () => {
  let stores: TestStores;
  beforeAll(async () => {
    stores = await createTestStores();
  });
  afterAll(() => stores.close());

  it('logs its progress while it builds an index, and nothing once it is done', async () => {
    const info = vi.fn();
    const logger = { info, debug: vi.fn() } as unknown as Logger;
    const lines = () => info.mock.calls.map(([line]) => line as Readonly<Record<string, unknown>>);
    const { postgres } = stores;
    await postgres.pool.query(`CREATE TABLE many AS SELECT n, repeat('x', 1000) AS filler FROM generate_series(1, 2000) n;
      CREATE FUNCTION slow(n integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM pg_sleep(0.002); RETURN n; END'`);
    await postgres.transaction(async (client) => {
      const change = () =>
        client.query('SET LOCAL max_parallel_maintenance_workers = 0; CREATE INDEX by_n ON many (slow(n))');
      await withProgress(postgres, client, '0099-many.sql', logger, change, 50);
    });
    const building = lines().filter(({ percent }) => percent !== undefined);
    expect(building.length).toBeGreaterThan(2);
    expect(building.every(({ migration, indexed }) => migration === '0099-many.sql' && indexed === 'many')).toBe(true);
    expect(building.some(({ perSecond, etaSeconds }) => Number(perSecond) > 0 && Number(etaSeconds) >= 0)).toBe(true);
    const percents = building.filter(({ phase }) => phase === building[0]?.phase).map(({ percent }) => Number(percent));
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    const count = info.mock.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(info.mock.calls).toHaveLength(count);
  });

  it('fails with the error of the change', async () => {
    const { postgres } = stores;
    const logger = { info: vi.fn(), debug: vi.fn() } as unknown as Logger;
    const failing = postgres.transaction((client) =>
      withProgress(postgres, client, '0099-none.sql', logger, () => client.query('SELECT FROM no_such_table')),
    );
    await expect(failing).rejects.toThrow('no_such_table');
  });
});
