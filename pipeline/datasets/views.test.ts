/** A statement over the views sees the rows of its beginning, however long Postgres takes to copy what it needs, and however many there are at once. */
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { openPricedDataset, type PricedDataset } from '../../test/support/datasets/priced-dataset.ts';
import { slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { clearRuns, pruneRuns } from '../price/ahead-runs.ts';
import { withViews } from './views.ts';

const { first, second } = slowChains();
let dataset: PricedDataset;
beforeAll(async () => {
  dataset = await openPricedDataset(2);
  const { world } = dataset;
  await world.feeds[0]?.append(first.slice(0, 80));
  await world.feeds[1]?.append(second.slice(0, 20));
  await world.run();
});
afterAll(() => dataset?.close());

const NEVER = new AbortController().signal;

it('provisional rows that are replaced before ClickHouse is asked', async () => {
  const { postgres, clickhouse } = dataset.world.stores;
  const request = { names: new Set(['v_prices']), mentions: () => false, seconds: 60, signal: NEVER };
  const count = (views: string) =>
    clickhouse.query(`${views}SELECT count() AS n, countIf(provisional) AS provisional FROM v_prices`);
  const before = await withViews(dataset.world.stores, request, count);
  expect(Number(before[0]?.provisional)).toBeGreaterThan(0);
  const prune = () => postgres.transaction((client) => pruneRuns(client, clickhouse));
  const replaced = await withViews(dataset.world.stores, request, async (views) => {
    await postgres.transaction(clearRuns);
    await prune();
    await postgres.pool.query("UPDATE ahead_runs SET unseen_since = unseen_since - interval '3 minutes'");
    await prune();
    return count(views);
  });
  expect(replaced).toEqual(before);
  await prune();
  expect(await clickhouse.query('SELECT count() AS n FROM prices_ahead')).toEqual([{ n: '0' }]);
});

/** Statements that end when they are let go. `begun` resolves when so many run, or rejects with the first that fails. */
function heldStatements(count: number, running: number) {
  const { stores } = dataset.world;
  const [begun, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let [now, most] = [0, 0];
  const held = async (views: string) => {
    now += 1;
    most = Math.max(most, now);
    if (now === running) begun.resolve();
    await gone.promise;
    now -= 1;
    return stores.clickhouse.query(`${views}SELECT count() > 0 AS some FROM v_prices`);
  };
  const request = { names: new Set(['v_prices']), mentions: () => false, seconds: 600, signal: NEVER };
  const answers = Promise.all(Array.from({ length: count }, () => withViews(stores, request, held)));
  answers.catch(begun.reject);
  return { begun: begun.promise, answers, letGo: gone.resolve, most: () => most };
}

it('answers more statements at once than there are connections, and a stage commits meanwhile', async () => {
  const { world } = dataset;
  const count = (world.stores.postgres.pool.options.max ?? 0) + 4;
  const { begun, answers, letGo, most } = heldStatements(count, 4);
  try {
    await begun;
    await world.feeds[1]?.append(second.slice(20, 22));
    await world.run();
  } finally {
    letGo();
  }
  expect((await answers).flat()).toEqual(Array.from({ length: count }, () => ({ some: 1 })));
  expect(most()).toBe(4);
});

it('a statement waits for its turn no longer than it may take, or than its caller does', async () => {
  const { stores } = dataset.world;
  const { begun, answers, letGo } = heldStatements(4, 4);
  const caller = new AbortController();
  const ask = (seconds: number) =>
    withViews(stores, { names: new Set(), mentions: () => false, seconds, signal: caller.signal }, async () => 'begun');
  try {
    await begun;
    await expect(ask(1)).rejects.toMatchObject({ code: 'sql_busy', message: expect.stringContaining('within 1 s') });
    const gone = expect(ask(600)).rejects.toThrow('gone');
    caller.abort(new Error('gone'));
    await gone;
  } finally {
    letGo();
  }
  await answers;
});

it.each([
  ['v_transfers', 'transfers'],
  ['v_prices', null],
])('a statement over %s whose caller goes gives its turn back, whatever it is at', async (name, locked) => {
  const { stores } = dataset.world;
  const { pool } = stores.postgres;
  const caller = new AbortController();
  const request = { names: new Set([name]), mentions: () => true, seconds: 600, signal: caller.signal };
  const ask = (views: string) => {
    const endless = `${views}SELECT count() FROM ${name}, (SELECT sum(cityHash64(number)) FROM numbers(1e15))`;
    return stores.clickhouse.query(endless, undefined, { max_execution_time: 600 }, caller.signal);
  };
  const holder = await pool.connect();
  try {
    await holder.query('BEGIN');
    if (locked) await holder.query(`LOCK TABLE ${locked} IN ACCESS EXCLUSIVE MODE`);
    const asked = Promise.allSettled([1, 2, 3, 4].map(() => withViews(stores, request, ask)));
    await expect.poll(() => (locked ? copies(pool) : endlessOnes(stores.clickhouse))).toBe(4);
    caller.abort(new Error('gone'));
    for (const outcome of await asked) expect(outcome).toMatchObject({ reason: { message: 'gone' } });
    expect([await copies(pool), await endlessOnes(stores.clickhouse)]).toEqual([0, 0]);
    const next = { names: new Set<string>(), mentions: () => false, seconds: 600, signal: NEVER };
    expect(await withViews(stores, next, async () => 'its turn')).toBe('its turn');
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
});

async function copies(pool: Pool): Promise<number> {
  return (await pool.query("SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'COPY%'")).rows.length;
}

async function endlessOnes(clickhouse: ClickHouse): Promise<number> {
  const rows = await clickhouse.query('SELECT query FROM system.processes');
  return rows.filter(({ query }) => String(query).includes('1e15')).length;
}
