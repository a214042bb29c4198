/** The data set of prices when the stores change between passes, or in the middle of one. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PRICED_TABLES } from '../../schemas/datasets/priced-tables.ts';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { checkFolder, readManifest } from '../../test/support/datasets/check-folder.ts';
import {
  dayOf,
  onAnotherBranch,
  openPricedDataset,
  type PricedDataset,
} from '../../test/support/datasets/priced-dataset.ts';
import { slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { begin, toTheEnd, withMaker } from '../../test/support/pipeline/reprocess/make.ts';
import { dropGeneration, swapGenerations } from '../reprocess/candidate-generation.ts';
import { rewindTo } from '../sinks/postgres/postgres-sink.ts';
import { changingKey } from '../stage/stage-lock.ts';
import { readExportState } from './export-state.ts';
import { openLocalFolder } from './folder.ts';
import { noteDay, publish, readNotes } from './notes.ts';
import { ALONE } from './pace.ts';

const { first, chains, cutover } = slowChains();
/** The first twenty of the chain’s thirty days: each pass writes every day. */
const blocks = first.slice(0, 183);
const pricing = { chains: chains.slice(0, 1), cutover, minBasketDepthUsd: 1000 };
let dataset: PricedDataset;
beforeEach(async () => {
  dataset = await openPricedDataset(1);
});
afterEach(() => dataset.close());

/** Index of the first block from `at` on that ends its day. */
const endOfDay = (at: number): number =>
  blocks.findIndex((block, index) => index >= at && dayOf(block) !== dayOf(blocks[index + 1]));
const heightOf = (index: number): number => blocks[index]?.height ?? -1;
const prices = () => readManifest(dataset.folder, 'prices');
const fileOf = async (day: number) =>
  (await prices()).find((file) => file.day === new Date(day * 86_400_000).toISOString().slice(0, 10));

it('a reorganisation that moves the last block of a day into the next day makes the day be written again', async () => {
  const { world, pass } = dataset;
  const [feed] = world.feeds;
  const last = endOfDay(30);
  await feed?.append(blocks.slice(0, last + 1));
  await world.run();
  await pass();
  const day = dayOf(blocks[last]);
  expect(await fileOf(day)).toMatchObject({ toHeight: heightOf(last), closed: false });
  await feed?.rewind(heightOf(last - 1));
  await feed?.append(onAnotherBranch(blocks.slice(last), 86_400));
  await world.run();
  expect((await pass()).missed).toBe(0);
  expect(await fileOf(day)).toMatchObject({ toHeight: heightOf(last - 1), closed: true });
  await checkFolder(dataset.folder);
});

it('open days are read one at a time, so that a stage waits for one file', async () => {
  const { world, pass } = dataset;
  await world.feeds[0]?.append(blocks);
  await world.run();
  const { clickhouse } = world.stores;
  const [underWay, most] = [new Set<object>(), { count: 0 }];
  const parquet: typeof clickhouse.parquet = async (write) => {
    underWay.add(write);
    most.count = Math.max(most.count, underWay.size);
    await clickhouse.parquet(write);
    underWay.delete(write);
  };
  const open = pricing.chains.map((chain) => ({ ...chain, finalityDepth: blocks.length }));
  await pass({ chains: open, pace: ALONE, stores: { ...world.stores, clickhouse: { ...clickhouse, parquet } } });
  const files = await prices();
  expect(files.length).toBeGreaterThan(3);
  expect(files.filter(({ closed }) => closed)).toEqual([]);
  expect(most.count).toBe(1);
});

it('a partly priced day is not closed when prices pass it in the middle of the export', async () => {
  const { world, pass } = dataset;
  const [feed] = world.feeds;
  await feed?.append(blocks);
  const last = endOfDay(30);
  const day = dayOf(blocks[last]);
  const part = last - 1;
  expect(dayOf(blocks[part])).toBe(day);
  await world.run({ steps: 1, maxTicks: part });
  await pass({ first: () => world.run() });
  const file = await fileOf(day);
  expect(file?.toHeight).toBeLessThan(heightOf(last));
  expect(file).toMatchObject({ closed: false });
  await pass();
  expect(await fileOf(day)).toMatchObject({ toHeight: heightOf(last), closed: true });
});

it('prices of a branch that derive has left are not taken for prices of the new blocks', async () => {
  const { world, pass } = dataset;
  const [feed] = world.feeds;
  await feed?.append(blocks.slice(0, 64));
  await world.run();
  await feed?.rewind(heightOf(60));
  await feed?.append(onAnotherBranch(blocks.slice(61, 70)));
  expect((await pass()).missed).toBe(0);
  expect(Math.max(...(await prices()).map(({ toHeight }) => toHeight))).toBe(heightOf(60));
  await world.run();
  await pass();
  expect(Math.max(...(await prices()).map(({ toHeight }) => toHeight))).toBe(heightOf(69));
});

it('dropping a generation in the middle of the export empties no day', async () => {
  const { world, pass, forgetBases } = dataset;
  const [feed] = world.feeds;
  await feed?.append(blocks.slice(0, -5));
  await world.run();
  await begin(world, pricing);
  await withMaker(world, pricing, toTheEnd);
  await feed?.append(blocks.slice(-5));
  await world.run();
  await pass();
  const before = await prices();
  expect(before.filter(({ closed }) => closed).length).toBeGreaterThan(3);
  await forgetBases();
  const dropped = async () => {
    await swapGenerations(world.stores.postgres, 'newer');
    await dropGeneration(world.stores, 1);
  };
  expect((await pass({ first: dropped })).missed).toBeGreaterThan(3);
  expect(await prices()).toEqual(before);
  expect((await pass()).missed).toBe(0);
  expect((await prices()).map(({ day, rows, generation }) => ({ day, rows, generation }))).toEqual(
    before.map(({ day, rows }) => ({ day, rows, generation: 2 })),
  );
});

it('a day with reverted prices keeps no file of a generation that is no longer served', async () => {
  const { world, pass } = dataset;
  const [feed] = world.feeds;
  const last = endOfDay(40);
  await feed?.append(blocks.slice(0, last + 4));
  await world.run();
  await pass();
  await begin(world, pricing);
  await withMaker(world, pricing, toTheEnd);
  await feed?.rewind(heightOf(last - 1));
  await world.run();
  await feed?.append(blocks.slice(last, last + 4));
  await pass();
  const behind = await fileOf(dayOf(blocks[last + 1]));
  expect(behind).toMatchObject({ generation: 1 });
  await swapGenerations(world.stores.postgres, 'newer');
  const { missed, withheld } = await pass();
  expect(new Set((await prices()).map(({ generation }) => generation))).toEqual(new Set([2]));
  expect([missed, withheld]).toEqual([0, []]);
  expect(await fileOf(dayOf(blocks[last + 1]))).toBeUndefined();
});

it('a swap in the middle of the export does not change only some of the files', async () => {
  const { world, pass } = dataset;
  const [feed] = world.feeds;
  await feed?.append(blocks.slice(0, 50));
  await world.run();
  await begin(world, pricing);
  await withMaker(world, pricing, toTheEnd);
  const { priced } = await readExportState(world.stores, dataset.chains);
  const tables = PRICED_TABLES.filter(({ name }) => name === 'prices');
  await pass({ tables });
  const before = await prices();
  const [newest] = before.slice(-1);
  // As if only the newest day had changed.
  const notes = await readNotes(await openLocalFolder(dataset.folder), 'prices');
  const day = notes.days.get(`${newest?.chain} ${newest?.day}`);
  if (day) noteDay(notes, { ...day, basis: `other ${day.basis}` }, Date.now());
  await publish(await openLocalFolder(dataset.folder), 'prices', notes, Date.now());
  const swap = () => swapGenerations(world.stores.postgres, 'newer');
  expect(await pass({ tables, first: swap })).toMatchObject({ missed: 1, withheld: [] });
  expect(await prices()).toEqual(before);
  expect(await pass({ tables })).toMatchObject({ missed: 0, withheld: [] });
  expect(new Set((await prices()).map(({ generation }) => generation))).toEqual(new Set([priced.other?.generation]));
});

/** Holds the stage in the middle of undoing ticks: ClickHouse has deleted the rows, and Postgres has not committed. */
async function undoing() {
  let [isReached, isLeft] = [() => {}, () => {}];
  const reached = new Promise<void>((resolve) => {
    isReached = resolve;
  });
  const left = new Promise<void>((resolve) => {
    isLeft = resolve;
  });
  const hasRows = async () => {
    const found = await dataset.world.stores.clickhouse.query('SELECT 1 FROM conversions WHERE generation = 1 LIMIT 1');
    return found.length > 0;
  };
  const crashPoint = async () => {
    if (await hasRows()) return;
    isReached();
    await left;
  };
  const stage = dataset.world.run({ steps: 1, crashPoint });
  await Promise.race([reached, stage]);
  return { stage, commit: isLeft };
}

it('closed days are not written without their prices while these are being undone', async () => {
  const { world, pass, forgetBases } = dataset;
  const [feed] = world.feeds;
  await feed?.append(blocks);
  await world.run();
  await pass();
  const before = await prices();
  expect(before.filter(({ closed }) => closed).length).toBeGreaterThan(3);
  // As after a redrive: derive has all blocks again, and price undoes everything from the first block on.
  await feed?.rewind(heightOf(0));
  await feed?.append(blocks.slice(1));
  await forgetBases();
  let undo: Awaited<ReturnType<typeof undoing>> | undefined;
  const { missed } = await pass({
    first: async () => {
      undo = await undoing();
    },
    progress: ({ done }) => done === 4 && undo?.commit(),
  });
  await undo?.stage;
  expect(missed).toBeGreaterThan(3);
  expect(await prices()).toEqual(before);
  await world.run();
  expect((await pass()).missed).toBe(0);
  const stands = ({ day, rows, closed }: (typeof before)[number]) => ({ day, rows, closed });
  expect((await prices()).map(stands)).toEqual(before.map(stands));
  await checkFolder(dataset.folder);
});

it('closed days are not written without their blocks while these are being rewound', async () => {
  await dataset.close();
  dataset = await openPricedDataset(1, true);
  const { world, pass, chains: used } = dataset;
  const chain = used[0]?.name ?? '';
  const tables = DATASET_TABLES.filter(({ name }) => name === 'blocks');
  await world.feeds[0]?.append(blocks);
  const second = endOfDay(endOfDay(0) + 1);
  expect(dayOf(blocks[second - 1])).toBe(dayOf(blocks[second]));
  const client = await world.stores.postgres.pool.connect();
  try {
    // Like a deep rewind: takes the lock, deletes rows in ClickHouse, then in Postgres, then commits.
    const { missed } = await pass({
      tables,
      first: async () => {
        await client.query('BEGIN');
        await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [changingKey('derive', chain)]);
        await world.stores.clickhouse.command(`DELETE FROM blocks WHERE height >= ${heightOf(second)}`);
        await rewindTo(client, chain, heightOf(second - 1));
      },
      progress: ({ done }) => done === 4 && client.query('COMMIT'),
    });
    expect(missed).toBeGreaterThan(3);
  } finally {
    client.release();
  }
  for (const { rows, fromHeight, toHeight } of await readManifest(dataset.folder, 'blocks'))
    expect(rows).toBe(toHeight - fromHeight + 1);
});

it('a closed day is written again when its sums were built again, even at the same tick', async () => {
  const { world, pass } = dataset;
  const { pool } = world.stores.postgres;
  const [feed] = world.feeds;
  await feed?.append(blocks);
  await world.run();
  await pass();
  const closed = (await prices()).filter((file) => file.closed).length;
  expect(closed).toBeGreaterThan(3);
  const { rows: builds } = await pool.query('DELETE FROM rolled_days RETURNING generation, day, tick');
  for (const { generation, day, tick } of builds)
    await pool.query('INSERT INTO rolled_days VALUES ($1, $2, $3)', [generation, day, tick]);
  const written = async () => (await pass()).tables.find(({ table }) => table === 'prices')?.written;
  expect(await written()).toBe(closed);
  expect(await written()).toBe(0);
});

it('closed days do not keep files from before a redrive until prices return', async () => {
  const { world, pass } = dataset;
  const [feed] = world.feeds;
  await feed?.append(blocks);
  await world.run();
  await pass();
  const stale = (await prices()).filter(({ closed }) => closed);
  await feed?.rewind(heightOf(0));
  await feed?.append(blocks.slice(1));
  await world.run({ steps: 1, maxTicks: 1 });
  await pass();
  const now = (await prices()).map(({ path }) => path);
  expect(stale.length).toBeGreaterThan(3);
  expect(stale.filter(({ path }) => now.includes(path))).toEqual([]);
});

it('an open day keeps its file until prices return, but not a file with blocks of another branch', async () => {
  const { world, pass } = dataset;
  const [feed] = world.feeds;
  const last = endOfDay(30);
  const first = blocks.findIndex((block) => dayOf(block) === dayOf(blocks[last]));
  expect(last - first).toBeGreaterThan(2);
  await feed?.append(blocks.slice(0, last + 1));
  await world.run();
  await pass();
  const whole = await fileOf(dayOf(blocks[last]));
  expect(whole).toMatchObject({ toHeight: heightOf(last), closed: false });
  // The same blocks again, which price has not reached yet.
  await feed?.rewind(heightOf(first));
  await world.run();
  await feed?.append(blocks.slice(first + 1, last + 2));
  await pass();
  expect(await fileOf(dayOf(blocks[last]))).toEqual(whole);
  // Other blocks in their place.
  await feed?.rewind(heightOf(first));
  await world.run();
  await feed?.append(onAnotherBranch(blocks.slice(first + 1, last + 2)));
  await pass();
  expect(await fileOf(dayOf(blocks[last]))).toMatchObject({ toHeight: heightOf(first) });
});
