/** Rows and topic are those of one straight run, whatever the batches, crashes, rewinds and the order in which chains arrive. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { StampsAppended } from '../../schemas/log-records.ts';
import type { FedBlock } from '../../test/support/pipeline/price/facts-feed.ts';
import { play, scripts } from '../../test/support/pipeline/price/price-scripts.ts';
import { allRows, createPriceWorld, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { readThrough, stampsTopic } from '../../test/support/pipeline/price/published-topic.ts';
import { slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import type { PriceChain } from './price-chain.ts';

const { first, second, chains: both, cutover } = slowChains();
const config = { cutover, minBasketDepthUsd: 1000 };

interface Case {
  readonly name: string;
  readonly chains: readonly PriceChain[];
  readonly blocks: readonly (readonly FedBlock[])[];
}
const CASES: readonly Case[] = [
  { name: 'one chain', chains: both.slice(0, 1), blocks: [first] },
  { name: 'two chains', chains: both, blocks: [first, second] },
];

/** By chain: the published and still valid records of complete ticks. */
async function publishedRecords(
  { stores, log }: PriceWorld,
  chains: readonly PriceChain[],
): Promise<Record<string, object[]>> {
  const { rows } = await stores.postgres.pool.query<{ chain: string; height: number; position: bigint }>(
    `SELECT price.chain, price.height, told.position FROM stage_positions price JOIN stage_positions told USING (chain, height)
     WHERE price.stage = 'price' AND told.stage = 'told'`,
  );
  expect(rows.map(({ chain }) => chain).sort()).toEqual(chains.map(({ name }) => name).sort());
  const blocks: Record<string, object[]> = {};
  for (const { chain, height, position } of rows) {
    const records = await stampsTopic(log, chain);
    expect(records.length).toBe(Number(position) + 1);
    blocks[chain] = readThrough(records)
      .filter((record) => record.height <= height)
      .map(({ position, source, provisional, ...block }) => block);
  }
  return blocks;
}

describe.each(CASES)('$name', ({ chains, blocks }) => {
  let straight: Record<string, string[]> = {};
  let publishedStraight: Record<string, object[]> = {};
  beforeAll(async () => {
    const world = await createPriceWorld({ chains, ...config });
    for (const [index, feed] of world.feeds.entries()) await feed.append(blocks[index] ?? []);
    await world.run();
    straight = await allRows(world.stores);
    publishedStraight = await publishedRecords(world, chains);
    await world.close();
  });

  it('stamps by both regimes, and closes some bounds but not others', () => {
    const stamps = straight.stamps?.map((row) => JSON.parse(row)) ?? [];
    const count = (
      match: (stamp: { regime: string; provisional: boolean; reason: string; inputs: { bounds?: unknown } }) => boolean,
    ) => stamps.filter(match).length;
    expect(count(({ regime }) => regime === 'live')).toBeGreaterThan(3);
    expect(count(({ regime, provisional }) => regime === 'backfill' && provisional)).toBeGreaterThan(3);
    expect(
      count(({ regime, provisional, inputs }) => regime === 'backfill' && !provisional && inputs.bounds !== undefined),
    ).toBeGreaterThan(3);
    expect(count(({ reason }) => reason === 'mirrored')).toBeGreaterThan(0);
    expect(straight.prices?.length).toBeGreaterThan(100);
  });

  it('publishes every block, with its changes and nothing else', () => {
    for (const [chain, blocks] of Object.entries(publishedStraight)) {
      const records = blocks as Pick<StampsAppended, 'height' | 'prices' | 'stamps'>[];
      expect(records.length, chain).toBeGreaterThan(200);
      expect(records.reduce((sum, { stamps }) => sum + stamps.length, 0)).toBeGreaterThan(20);
      const prices = records.flatMap((record) => record.prices);
      expect(prices.length).toBeGreaterThan(50);
    }
    const rows = straight['clickhouse prices'] ?? [];
    const all = Object.values(publishedStraight).flat() as StampsAppended[];
    expect(all.flatMap(({ prices }) => prices).length).toBeLessThan(rows.length);
    expect(all.flatMap(({ stamps }) => stamps).length).toBe(straight.stamps?.length);
  });

  it('has the rows of the straight run', async () => {
    await fc.assert(
      fc.asyncProperty(scripts, async (script) => {
        const world = await createPriceWorld({ chains, ...config });
        try {
          await play(world, blocks, script);
          expect(await allRows(world.stores)).toEqual(straight);
          expect(await publishedRecords(world, chains)).toEqual(publishedStraight);
        } finally {
          await world.close();
        }
      }),
      { numRuns: Number(process.env.PRICE_RUNS ?? 2), endOnFailure: true },
    );
  }, 600_000);
});
