/** Whatever the batches, crashes, rewinds and the order in which chains arrive: the rows are those of one straight run. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PriceChain } from './price-chain.ts';
import type { FedBlock } from './testing/facts-feed.ts';
import { play, scripts } from './testing/price-scripts.ts';
import { allRows, createPriceWorld } from './testing/price-world.ts';
import { slowChains } from './testing/slow-chains.ts';

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

describe.each(CASES)('$name', ({ chains, blocks }) => {
  let straight: Record<string, string[]> = {};
  beforeAll(async () => {
    const world = await createPriceWorld({ chains, ...config });
    for (const [index, feed] of world.feeds.entries()) await feed.append(blocks[index] ?? []);
    await world.run();
    straight = await allRows(world.stores);
    await world.close();
  });

  it('stamps by both regimes, and closes some bounds and not others', () => {
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

  it('gives the rows of the straight run', async () => {
    await fc.assert(
      fc.asyncProperty(scripts, async (script) => {
        const world = await createPriceWorld({ chains, ...config });
        try {
          await play(world, blocks, script);
          expect(await allRows(world.stores)).toEqual(straight);
        } finally {
          await world.close();
        }
      }),
      { numRuns: Number(process.env.PRICE_RUNS ?? 4), endOnFailure: true },
    );
  }, 600_000);
});
