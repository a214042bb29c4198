/**
 * Compares 10,000 random rows of the data set, read by DuckDB over HTTP, field by field with the stores and the API. The generated chain is
 * reorganised before and after a second generation is made and served.
 */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { run as reprocess } from '../../commands/reprocess.ts';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { NATIVE } from '../api/running-service.ts';
import { SEED } from '../setup/seed.ts';
import { collectedOutput } from '../support/commands/collected-output.ts';
import { apiClaims } from '../support/datasets/api-rows.ts';
import { type DuckDb, openDuckDb } from '../support/datasets/duckdb.ts';
import { fetchedRows, keyOf } from '../support/datasets/plain-rows.ts';
import { storedRows } from '../support/datasets/stored-rows.ts';
import { type GeneratedService, startGeneratedService } from './exported-service.ts';

const LEAST_ROWS = 10_000;
/** Maximum rows of one table: balances change so often that their rows would otherwise fill the sample. */
const MOST_OF_A_TABLE = 6_000;
const BLOCKS = 380;
const TRANSACTIONS = 8;
const silent = collectedOutput().output;
const TABLES = DATASET_TABLES.filter(({ name }) => name !== 'bridge');

let service: GeneratedService;
let duckdb: DuckDb;
let compared = 0;

beforeAll(async () => {
  service = await startGeneratedService(BLOCKS, TRANSACTIONS);
  duckdb = await openDuckDb();
  await service.settled(true);
  await service.exported();
  await reorganised(20, 25);
  expect(await reprocess(service.context, { regime: 'live' }, silent)).toMatchObject({ exitCode: 0 });
  await reorganised(9, 12);
  await reprocess(service.context, { swap: true }, silent);
  await reorganised(3, 5);
});
afterAll(async () => {
  duckdb?.close();
  await service?.stop();
});

async function reorganised(depth: number, blocks: number): Promise<void> {
  service.node.reorganise(depth, blocks);
  await service.settled(true);
  expect((await service.exported()).missed).toBe(0);
}

it.each(TABLES.map((table) => [table.name, table] as const))('%s', async (name, table) => {
  const rows = await fetchedRows(duckdb, service.url, table, { most: MOST_OF_A_TABLE, seed: SEED });
  const stored = await storedRows(service.stores, table);
  expect(rows.length).toBe(Math.min(stored.size, MOST_OF_A_TABLE));
  expect(rows.length).toBeGreaterThan(0);
  expect(new Set(rows.map((row) => keyOf(table, row))).size).toBe(rows.length);
  const claimsOf = apiClaims(service.url, NATIVE)[name];
  const claims = await claimsOf?.(rows);
  let shown = 0;
  for (const row of rows) {
    expect(row, keyOf(table, row)).toEqual(stored.get(keyOf(table, row)));
    const claimed = claims?.(row);
    if (!claimed) continue;
    shown++;
    expect(row, `the API of ${keyOf(table, row)}`).toMatchObject(claimed);
  }
  expect(shown).toBeGreaterThan(0);
  compared += rows.length;
});

it('conversions contain both generations, and the second is served', async () => {
  const table = DATASET_TABLES.find(({ name }) => name === 'conversions');
  const rows = table ? await fetchedRows(duckdb, service.url, table, { most: MOST_OF_A_TABLE, seed: SEED }) : [];
  expect(new Set(rows.map((row) => `${row.generation} ${row.other_generation}`))).toEqual(new Set(['2 1']));
  expect(rows.some((row) => row.usd_value !== row.other_usd_value)).toBe(true);
});

it(`${LEAST_ROWS} rows were compared`, () => {
  expect(compared).toBeGreaterThanOrEqual(LEAST_ROWS);
});
