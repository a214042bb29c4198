/**
 * One of three chains stands still while the others continue for thousands of blocks (STALL_BLOCKS): every number is what a plain
 * computation gives for each chain up to its own tip, memory stays flat, and once the chain returns the result is as if it had never stopped.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StampsRecord } from '../../schemas/log-records.ts';
import { checkPublished } from '../../test/support/pipeline/price/check-published.ts';
import type { FedBlock } from '../../test/support/pipeline/price/facts-feed.ts';
import { longChains } from '../../test/support/pipeline/price/long-chains.ts';
import { plainPrices, shownRows } from '../../test/support/pipeline/price/plain-prices.ts';
import {
  allRows,
  createPriceWorld,
  type OpenStage,
  type PriceWorld,
} from '../../test/support/pipeline/price/price-world.ts';
import { readThrough, stampsTopic } from '../../test/support/pipeline/price/published-topic.ts';
import { pricingRules } from './run-price.ts';

const LENGTH = Number(process.env.STALL_BLOCKS ?? 3000);
const STANDS_AT = 5;
const STEP = 250;
/** The queues take a sixth of the distance between the chains, so they are full most of the time. */
const LIMITS = { maxTicks: 1000, maxRows: 50_000, maxQueued: 500 };
const isLong = LENGTH > 10_000;

const long = longChains(LENGTH);
const chains = long.map(({ chain }) => chain);
const STALLED = 2;
const config = { cutover: 0, minBasketDepthUsd: 1000 };
const rules = pricingRules(chains, { ...config, priceLimits: {} });

let world: PriceWorld;
let open: OpenStage;
const fed = long.map(() => 0);
let mostHeld = 0;

beforeAll(async () => {
  world = await createPriceWorld({ chains, ...config });
  open = await world.open(LIMITS);
});
afterAll(async () => {
  await open?.close();
  await world?.close();
});

async function feed(index: number, to: number): Promise<void> {
  const blocks = long[index]?.blocks(fed[index] ?? 0, to) ?? [];
  if (blocks.length > 0) await world.feeds[index]?.append(blocks);
  fed[index] = (fed[index] ?? 0) + blocks.length;
}

async function settle(): Promise<void> {
  await open.settle(undefined, () => {
    mostHeld = Math.max(mostHeld, open.stage.held());
  });
}

const standing = (): FedBlock[][] => long.map(({ blocks }, index) => blocks(0, fed[index] ?? 0));

function progress(what: string): void {
  if (!isLong) return;
  const ahead = [...open.stage.aheadTips].map(([chain, { height }]) => `${chain} ${height}`).join(', ');
  const rss = Math.round(process.memoryUsage().rss / 2 ** 20);
  console.log(
    `stall: ${what}; fed ${fed.join('/')}, shown to ${ahead || 'the line'}; held ${mostHeld} blocks, RSS ${rss} MB`,
  );
}

/** Returns how many conversions were compared. */
async function compare(): Promise<number> {
  const shown = await shownRows(world.stores.postgres.pool, chains[0]?.name ?? '');
  const plain = plainPrices(rules, standing());
  expect(shown.stamps).toEqual(plain.stamps);
  expect(shown.prices).toEqual(plain.prices);
  return Object.keys(plain.stamps).length;
}

/** Applies all records. Leaves out `provisional` of blocks without rows, which no client can see. */
function published(records: readonly StampsRecord[]) {
  return readThrough(records).map(({ position: _, provisional, ...record }) => ({
    ...record,
    ...(record.prices.length + record.stamps.length > 0 && { provisional }),
  }));
}

async function publishedCounts() {
  const records = (await Promise.all(chains.map(({ name }) => stampsTopic(world.log, name)))).flat();
  const count = (kind: StampsRecord['kind']) => records.filter((record) => record.kind === kind).length;
  return { stamps: count('stamps'), corrections: count('correction'), rewinds: count('rewind') };
}

it('prices every existing block while a chain stands still', async () => {
  for (const index of long.keys()) await feed(index, STANDS_AT);
  await settle();
  for (let to = STEP; to < LENGTH + STEP; to += STEP) {
    for (const index of [0, 1]) {
      await feed(index, to);
      await settle();
    }
    if (to % (STEP * 10) === 0) progress('stands still');
  }
  const compared = await compare();
  expect(compared).toBeGreaterThan(200);
  const { rows } = await world.stores.postgres.pool.query(
    `SELECT FROM transfers t WHERE status IN ('completed', 'refunded') AND kind <> 'send' AND t.to_height IS NULL
       AND NOT EXISTS (SELECT FROM stamps s WHERE s.chain = t.chain AND s.txid = t.txid AND s.vout = t.vout)`,
  );
  expect(rows).toEqual([]);
  await checkPublished(world, chains, standing());
  expect((await publishedCounts()).stamps).toBe(fed.reduce((sum, count) => sum + count));
  progress(`${compared} stamps compared`);
}, 3_600_000);

it('restarts in the middle of it', async () => {
  await open.close();
  open = await world.open(LIMITS);
  await settle();
  progress('started again');
  await compare();
  await checkPublished(world, chains, standing());
}, 3_600_000);

it('corrects what the chain changes when it returns, block by block and in bulk', async () => {
  const before = await publishedCounts();
  for (const to of [STANDS_AT + 1, 100, Math.floor(LENGTH / 3)]) {
    await feed(STALLED, to);
    await settle();
    await compare();
    progress(`back to ${to}`);
  }
  await checkPublished(world, chains, standing());
  const after = await publishedCounts();
  expect(after.corrections).toBeGreaterThan(before.corrections);
  // No block that is still on its chain is retracted, and none is published twice.
  expect(after.rewinds).toBe(before.rewinds);
  expect(after.stamps - before.stamps).toBe(Math.floor(LENGTH / 3) - STANDS_AT);
}, 3_600_000);

it('ends as if it had never stood still, byte for byte', async () => {
  await feed(STALLED, LENGTH);
  await settle();
  progress('back');
  await compare();
  await checkPublished(world, chains, standing());
  const straight = await createPriceWorld({ chains, ...config });
  try {
    for (const [index, { blocks, length }] of long.entries()) {
      for (let from = 0; from < length; from += 5000) await straight.feeds[index]?.append(blocks(from, from + 5000));
    }
    await straight.run();
    expect(await allRows(world.stores)).toEqual(await allRows(straight.stores));
    for (const { name } of chains) {
      expect(published(await stampsTopic(world.log, name))).toEqual(published(await stampsTopic(straight.log, name)));
    }
  } finally {
    await straight.close();
  }
}, 3_600_000);

it('keeps no more blocks than its limits, however far the chains are apart', () => {
  // For each chain: a queue, the blocks read beyond it, and the blocks that the fold beyond the line has read in addition.
  expect(mostHeld).toBeGreaterThan(LIMITS.maxQueued);
  expect(mostHeld).toBeLessThanOrEqual(long.length * 3 * LIMITS.maxQueued);
});
