/** The tables of the data set have every column of the stores. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { createTestStores, type TestStores } from '../support/infra/test-stores.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores?.close());

/** Columns for the bookkeeping of the stores, which are not data. */
const OF_THE_STORE = new Set(['position', 'to_height', 'from_height']);

async function storedColumns(table: string): Promise<string[]> {
  const rows = await stores.clickhouse.query(
    'SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String} ORDER BY position',
    { table },
  );
  return rows.map(({ name }) => String(name)).filter((name) => !OF_THE_STORE.has(name));
}

it.each(DATASET_TABLES.map((table) => [table.name, table] as const))(
  '%s has every column of its store',
  async (_, table) => {
    if (table.store === 'prices') {
      expect([...table.stored].sort()).toEqual((await storedColumns(table.table)).sort());
      return;
    }
    if (table.store === 'clickhouse') {
      expect(table.columns.map(({ name }) => name).sort()).toEqual((await storedColumns(table.table)).sort());
      return;
    }
    const { rows } = await stores.postgres.pool.query<{ name: string }>(
      'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1',
      [table.table],
    );
    const stored = rows.map(({ name }) => name).filter((name) => !OF_THE_STORE.has(name));
    const placed = new Set(['height', 'time']);
    expect(
      table.columns
        .map(({ name }) => name)
        .filter((name) => !placed.has(name))
        .sort(),
    ).toEqual(stored.filter((name) => !placed.has(name)).sort());
  },
);
