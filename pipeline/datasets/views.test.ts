/** A statement over the views sees the rows of its beginning, however long Postgres copies, and however many statements run at once. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
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

it('a statement sees provisional rows that are replaced before ClickHouse runs it', async () => {
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

/** Statements that run until letGo(). `begun` resolves when `running` of them run, or rejects with the first failure. */
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

it('answers more statements at once than there are connections, while a stage commits', async () => {
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

it('a statement waits for its turn no longer than its time limit, or than its caller', async () => {
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
])('a statement over %s whose caller leaves frees its turn in any phase', async (name, locked) => {
  const { stores } = dataset.world;
  const { pool } = stores.postgres;
  const caller = new AbortController();
  const request = { names: new Set([name]), mentions: () => true, seconds: 600, signal: caller.signal };
  const ask = (views: string) => {
    const endless = `${views}SELECT count() FROM ${name}, (SELECT sum(cityHash64(number)) FROM numbers(1e15)) AS endless`;
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

/** More rows than a connection sends before it waits for its reader: a few MB. */
const REWARDS = `INSERT INTO rewards (chain, height, txid, vout, address, kind, amount, position)
  SELECT 'copied', 1, decode(lpad(to_hex(n), 64, '0'), 'hex'), 0, 'R', 'mining', n, 0 FROM generate_series(1, 20000) n`;
const BLOCK = `INSERT INTO blocks (chain, height, hash, time, clock, size, tx_count, validation_type, difficulty, bits, nonce, version,
    merkle_root, chain_work, chain_stake, reward, fees, position)
  VALUES ('copied', 1, '', 1, 1, 1, 1, 'work', '1', '1', '1', 1, '', '', '', 1, 0, 0)`;

it('a statement whose rows cannot be written reports it, and frees its turn and its connection', async () => {
  const { stores } = dataset.world;
  const { pool } = stores.postgres;
  await pool.query(BLOCK);
  await pool.query(REWARDS);
  const folder = await mkdtemp(join(tmpdir(), 'verustream-views-'));
  vi.stubEnv('TMPDIR', folder);
  const holder = await pool.connect();
  try {
    await holder.query('BEGIN; LOCK TABLE stage_positions IN ACCESS EXCLUSIVE MODE');
    const request = { names: new Set(['v_rewards']), mentions: () => true, seconds: 600, signal: NEVER };
    const asked = Promise.allSettled([1, 2, 3, 4].map(() => withViews(stores, request, async () => 'asked')));
    await expect.poll(() => readdir(folder)).toHaveLength(4);
    await rm(folder, { recursive: true });
    await holder.query('ROLLBACK'); // lets the copies begin
    for (const outcome of await asked) expect(outcome).toMatchObject({ reason: { code: 'scratch_unusable' } });
    await expect(withViews(stores, request, async () => 'asked')).rejects.toThrow(`into ${folder}: ENOENT`);
  } finally {
    holder.release();
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true, force: true });
  }
  await expect.poll(() => copies(pool)).toBe(0);
  const every = Array.from({ length: pool.options.max ?? 0 }, () => pool.query('SELECT pg_sleep(0.1)'));
  await Promise.all(every);
  const next = { names: new Set(['v_rewards']), mentions: () => true, seconds: 600, signal: NEVER };
  const sum = (views: string) => stores.clickhouse.query(`${views}SELECT sum(amount) > 0 AS some FROM v_rewards`);
  await Promise.all([1, 2, 3, 4].map(() => withViews(stores, next, sum)));
});

async function copies(pool: Pool): Promise<number> {
  return (await pool.query("SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'COPY%'")).rows.length;
}

async function endlessOnes(clickhouse: ClickHouse): Promise<number> {
  const rows = await clickhouse.query('SELECT query FROM system.processes');
  return rows.filter(({ query }) => String(query).includes('1e15')).length;
}
