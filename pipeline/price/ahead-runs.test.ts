/** Whatever is appended and dropped, and wherever it crashes, the rows that count equal a plain list, in every snapshot of Postgres. */

import fc from 'fast-check';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { PriceRow } from '../../processors/pricing/price-fold.ts';
import type { StampRow } from '../../processors/pricing/stamp.ts';
import { type AheadRun, type AheadTable, aheadRowsSql } from '../../schemas/ahead-runs.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { crashingClickHouse } from '../../test/support/pipeline/price/price-world.ts';
import {
  type AddedRows,
  appendRun,
  clearRuns,
  dropFromRuns,
  dropUnknownRuns,
  pruneRuns,
  withRunsKept,
} from './ahead-runs.ts';

const FIRST = 2 ** 40;
const START = 1_700_000_000;
const GENERATIONS = [1, 4];
const RUNS = Number(process.env.AHEAD_RUNS ?? 12);

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
beforeEach(empty);
afterAll(() => stores.close());

async function empty(): Promise<void> {
  await stores.postgres.pool.query('TRUNCATE ahead_runs');
  for (const table of ['prices_ahead', 'conversions_ahead']) await stores.clickhouse.command(`TRUNCATE TABLE ${table}`);
}

/** A row of both tables at a tick; `value` distinguishes versions. */
interface Held {
  readonly tick: number;
  readonly value: number;
  /** Value of the conversion's correction; null when it was never corrected. */
  readonly corrected: number | null;
}

type Change =
  | { readonly kind: 'append'; readonly ticks: number; readonly corrected: readonly number[] }
  | { readonly kind: 'beyond' | 'below'; readonly at: number }
  | { readonly kind: 'clear' | 'prune' | 'snapshot' | 'reopen' };
interface Transaction {
  readonly changes: readonly Change[];
  /** Number of statements until it crashes; it does not crash when there are fewer. */
  readonly crashAfter: number;
}

const at = fc.integer({ min: 0, max: 100 });
const change = fc.oneof<fc.WeightedArbitrary<Change>[]>(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('append'),
      ticks: fc.integer({ min: 0, max: 6 }),
      corrected: fc.oneof(fc.constant([]), fc.array(at, { maxLength: 3 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('beyond'), at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('below'), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('clear', 'prune', 'snapshot', 'reopen') }) },
);
const transactions = fc.array(
  fc.record({
    changes: fc.array(change, { minLength: 1, maxLength: 4 }),
    crashAfter: fc.oneof({ weight: 3, arbitrary: fc.constant(1000) }, { weight: 1, arbitrary: fc.nat({ max: 20 }) }),
  }),
  { minLength: 5, maxLength: 25 },
);

const HASH = '0'.repeat(56);
const txidOf = (tick: number) => HASH + (tick - FIRST).toString(16).padStart(8, '0');

function priceRow({ tick, value }: Held): PriceRow {
  const usd = BigInt(value) * 10n ** 30n;
  const block = { chain: 'one', height: tick - FIRST, time: START + value, clock: START + value };
  const price = { currencyId: 'iOne', tier: 1, entries: [] };
  const mark = { usd, tier: 1, totalDepth: usd, sourceBasket: null };
  return { tick, block, price, mark, ema: usd, isChange: true } as unknown as PriceRow;
}

function stampRow({ tick, value, corrected }: Held): StampRow {
  const usdValue = BigInt(corrected ?? value) * 10n ** 38n;
  const transfer = { txid: txidOf(tick), vout: 0, kind: 'convert', status: 'completed', toCurrencyId: 'iOne' };
  const amounts = { amountIn: 1n, amountOut: 1n, conversionFee: 0n, requestHeight: 0, importCurrencyId: 'iOne' };
  const stamp = { fromUsd: null, toUsd: null, usdValue, rule: 'to_side', regime: 'live', diverged: false };
  return {
    tick,
    chain: 'one',
    height: tick - FIRST,
    time: START + value,
    transfer: { ...transfer, ...amounts },
    stamp: { ...stamp, provisional: true },
  } as unknown as StampRow;
}

/** Plays transactions on the stores and on a list. */
function createPlay() {
  let held: readonly Held[] = [];
  let value = 0;
  const snapshots: { readonly runs: readonly AheadRun[]; readonly held: readonly Held[] }[] = [];

  async function apply(client: PoolClient, clickhouse: ClickHouse, one: Change, from: readonly Held[]) {
    const tickAt = (share: number) => {
      const [first, last] = [from[0]?.tick ?? FIRST, from.at(-1)?.tick ?? FIRST];
      return first + Math.round(((last - first + 1) * share) / 100) - 1;
    };
    switch (one.kind) {
      case 'append': {
        const start = (from.at(-1)?.tick ?? FIRST - 1) + 1;
        const added = Array.from({ length: one.ticks }, (_, index): Held => {
          return { tick: start + index, value: ++value, corrected: null };
        });
        const corrections = new Map(one.corrected.map((share) => [tickAt(share), ++value]));
        const corrected = from.flatMap((row) => {
          const correction = corrections.get(row.tick);
          return correction === undefined ? [] : [{ ...row, corrected: correction }];
        });
        const rows = GENERATIONS.map(
          (generation): AddedRows => ({
            generation,
            prices: added.map(priceRow),
            stamps: added.map(stampRow),
            corrections: corrected.map(stampRow),
          }),
        );
        await appendRun(client, clickhouse, rows);
        const now = new Map(corrected.map((row) => [row.tick, row]));
        return [...from.map((row) => now.get(row.tick) ?? row), ...added];
      }
      case 'beyond':
        await dropFromRuns(client, { keepThrough: tickAt(one.at), passed: FIRST });
        return from.filter(({ tick }) => tick <= tickAt(one.at));
      case 'below':
        await dropFromRuns(client, { keepThrough: null, passed: tickAt(one.at) });
        return from.filter(({ tick }) => tick >= tickAt(one.at));
      case 'clear':
        await clearRuns(client);
        return [];
      case 'prune':
        await pruneRuns(client, clickhouse);
        return from;
      case 'snapshot':
      case 'reopen':
        return from;
    }
  }

  return {
    get held() {
      return held;
    },
    snapshots,
    async run({ changes, crashAfter }: Transaction): Promise<void> {
      let left = crashAfter;
      const crashPoint = () => {
        if (left-- <= 0) throw new Crash();
      };
      const clickhouse = crashingClickHouse(stores.clickhouse, crashPoint);
      try {
        let rows = held;
        await stores.postgres.transaction(async (client) => {
          for (const one of changes) {
            rows = await apply(client, clickhouse, one, rows);
            crashPoint();
          }
        });
        held = rows;
        if (changes.some(({ kind }) => kind === 'snapshot')) snapshots.push({ runs: await readRuns(), held });
        if (!changes.some(({ kind }) => kind === 'reopen')) return;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
      }
      await stores.postgres.transaction((client) => dropUnknownRuns(client, stores.clickhouse));
    },
  };
}

class Crash extends Error {}

async function readRuns(): Promise<AheadRun[]> {
  const { rows } = await stores.postgres.pool.query<AheadRun>(
    `SELECT run, from_tick AS "fromTick", through_tick AS "throughTick", corrects FROM ahead_runs WHERE counts`,
  );
  return rows;
}

async function rowsOf(table: AheadTable, value: string, runs: readonly AheadRun[]): Promise<string[]> {
  const sql = `SELECT concat(toString(generation), ' ', toString(tick), ' ', toString(toUInt64(${value}))) AS row FROM ${aheadRowsSql(table, runs)}`;
  return (await stores.clickhouse.rows(rowReader({ row: columns.text }), sql)).map(({ row }) => row).sort();
}

async function expectHeld(runs: readonly AheadRun[], held: readonly Held[]): Promise<void> {
  const expected = (printed: (row: Held) => number) =>
    GENERATIONS.flatMap((generation) => held.map((row) => `${generation} ${row.tick} ${printed(row)}`)).sort();
  expect(await rowsOf('prices_ahead', 'usd_price', runs)).toEqual(expected(({ value }) => value));
  expect(await rowsOf('conversions_ahead', 'usd_value', runs)).toEqual(
    expected(({ value, corrected }) => corrected ?? value),
  );
}

const storedRuns = async () => {
  const tables = ['prices_ahead', 'conversions_ahead'].map((table) => `SELECT run FROM ${table}`).join(' UNION ALL ');
  const rows = await stores.clickhouse.query(`SELECT DISTINCT run FROM (${tables})`);
  return rows.map(({ run }) => Number(run)).sort((a, b) => a - b);
};

it('contains the same as a plain list, also for readers of an older snapshot', async () => {
  let most = 0;
  await fc.assert(
    fc
      .asyncProperty(transactions, async (script) => {
        const play = createPlay();
        for (const transaction of script) {
          await play.run(transaction);
          const runs = await readRuns();
          most = Math.max(most, runs.length);
          await expectHeld(runs, play.held);
        }
        for (const { runs, held } of play.snapshots) await expectHeld(runs, held);
      })
      .beforeEach(empty),
    { numRuns: RUNS, endOnFailure: true },
  );
  expect(most).toBeGreaterThan(3);
  expect(most).toBeLessThanOrEqual(8);
}, 300_000);

it('frees runs that no reader needs any more, and runs that a crash left', async () => {
  const play = createPlay();
  const append: Change = { kind: 'append', ticks: 3, corrected: [] };
  for (let step = 0; step < 20; step++) await play.run({ changes: [append], crashAfter: 1000 });
  await play.run({ changes: [{ kind: 'below', at: 60 }], crashAfter: 1000 });
  await play.run({ changes: [{ kind: 'prune' }], crashAfter: 1000 });
  const before = await storedRuns();
  await stores.postgres.pool.query(`UPDATE ahead_runs SET unseen_since = unseen_since - interval '1 hour'`);
  await play.run({ changes: [{ kind: 'prune' }], crashAfter: 1000 });
  const counting = (await readRuns()).map(({ run }) => Number(run)).sort((a, b) => a - b);
  expect(counting.length).toBeLessThan(before.length);
  expect(await storedRuns()).toEqual(counting);
  await play.run({ changes: [append, append], crashAfter: 7 });
  expect(await storedRuns()).toEqual(counting);
  await expectHeld(await readRuns(), play.held);
});

it('frees nothing while a slow reader keeps it', async () => {
  const play = createPlay();
  const { pool } = stores.postgres;
  for (let step = 0; step < 3; step++)
    await play.run({ changes: [{ kind: 'append', ticks: 3, corrected: [] }], crashAfter: 1000 });
  const reader = Promise.withResolvers<void>();
  const snapshot = Promise.withResolvers<readonly AheadRun[]>();
  const reading = withRunsKept(pool, async () => {
    snapshot.resolve(await readRuns());
    await reader.promise;
  });
  const runs = await snapshot.promise;
  const { held } = play;
  await play.run({ changes: [{ kind: 'clear' }], crashAfter: 1000 });
  await play.run({ changes: [{ kind: 'prune' }], crashAfter: 1000 });
  await pool.query(`UPDATE ahead_runs SET unseen_since = unseen_since - interval '1 hour'`);
  await play.run({ changes: [{ kind: 'prune' }], crashAfter: 1000 });
  await expectHeld(runs, held);
  reader.resolve();
  await reading;
  await play.run({ changes: [{ kind: 'prune' }], crashAfter: 1000 });
  expect(await storedRuns()).toEqual([]);
  await expect(withRunsKept(pool, () => Promise.reject(new Error('stopped')))).rejects.toThrow('stopped');
  const left = `SELECT count(*)::integer AS n FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  await expect.poll(async () => (await pool.query<{ n: number }>(left)).rows).toEqual([{ n: 0 }]);
});

it('no reader waits for the transaction that frees runs', async () => {
  const { pool } = stores.postgres;
  const play = createPlay();
  const append: Change = { kind: 'append', ticks: 3, corrected: [] };
  for (const kind of ['prune', 'clear', 'prune'] as const)
    await play.run({ changes: [append, { kind }], crashAfter: 1000 });
  const seen = await stores.postgres.transaction(async (client) => {
    const read = () => withRunsKept(pool, async () => (await readRuns()).length);
    await pruneRuns(client, stores.clickhouse);
    const before = await read();
    await client.query(`UPDATE ahead_runs SET unseen_since = unseen_since - interval '1 hour'`);
    await pruneRuns(client, stores.clickhouse);
    return [before, await read()];
  });
  expect(seen).toEqual([1, 1]);
  expect(await storedRuns()).toHaveLength(1);
});

it('rewrites each row only a few times, however many are appended', async () => {
  let written = 0;
  const play = createPlay();
  for (let step = 0; step < 200; step++) {
    await play.run({ changes: [{ kind: 'append', ticks: 1, corrected: [] }], crashAfter: 1000 });
  }
  const { rows } = await stores.postgres.pool.query<{ size: bigint }>('SELECT size FROM ahead_runs');
  for (const { size } of rows) written += Number(size);
  const appended = play.held.length * GENERATIONS.length * 2;
  expect(written / appended).toBeLessThan(7);
});
