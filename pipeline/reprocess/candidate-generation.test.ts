/** One generation next to the served one: begun, continued, swapped, swapped back and dropped, and what is refused. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allRows, createPriceWorld, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { begin, EVERYTHING, toTheEnd, withMaker } from '../../test/support/pipeline/reprocess/make.ts';
import { readGenerations, servedGeneration } from '../price/generations.ts';
import { dropGeneration, swapGenerations } from './candidate-generation.ts';

const { first, chains, cutover } = slowChains();
const config = { chains: chains.slice(0, 1), cutover, minBasketDepthUsd: 1000 };
const LIVE = { regime: 'live', ...EVERYTHING } as const;
const TIP = 120;

let world: PriceWorld;
let served: Record<string, string[]>;
const pool = () => world.stores.postgres.pool;
const numbers = async () => (await readGenerations(pool())).map(({ generation }) => generation);

beforeAll(async () => {
  world = await createPriceWorld(config);
  await world.feeds[0]?.append(first.slice(0, TIP));
  await world.run();
  served = await allRows(world.stores);
});
afterAll(() => world.close());

it('swaps nothing while there is no other generation', async () => {
  await expect(swapGenerations(world.stores.postgres, 'newer')).rejects.toMatchObject({ code: 'nothing_to_swap' });
  await expect(swapGenerations(world.stores.postgres, 'older')).rejects.toMatchObject({ code: 'nothing_to_swap' });
  await expect(dropGeneration(world.stores, 1)).rejects.toMatchObject({ code: 'generation_not_dropped' });
  await expect(dropGeneration(world.stores, 7)).rejects.toMatchObject({ code: 'generation_not_dropped' });
});

it('continues the generation that was begun for the same range, and refuses another one', async () => {
  const begun = await begin(world, config);
  expect(begun).toMatchObject({ generation: 2, isUnfinished: true, ranges: [LIVE] });
  expect(await begin(world, config)).toEqual(begun);
  const other = begin(world, config, { ...LIVE, regime: 'backfill' });
  await expect(other).rejects.toMatchObject({ code: 'generation_in_the_way' });
  await expect(swapGenerations(world.stores.postgres, 'newer')).rejects.toMatchObject({ code: 'nothing_to_swap' });
});

it('does not continue under other rules', async () => {
  const begun = await begin(world, config);
  const other = begin(world, { ...config, minBasketDepthUsd: 77 });
  await expect(other).rejects.toMatchObject({
    code: 'generation_in_the_way',
    message: expect.stringMatching(/other rules \(minBasketDepthUsd\).*--drop 2/),
  });
  expect(await begin(world, config)).toEqual(begun);
});

it('fails while making a generation that was dropped in the meantime', async () => {
  const made = withMaker(world, config, async (maker) => {
    await maker.step();
    await dropGeneration(world.stores, 2);
    await toTheEnd(maker);
  });
  await expect(made).rejects.toMatchObject({ code: 'generation_dropped' });
  expect(await begin(world, config)).toMatchObject({ generation: 3, isUnfinished: true });
});

it('is written before and after a swap, and is unchanged after swapping back', async () => {
  await withMaker(world, config, toTheEnd);
  expect((await readGenerations(pool())).map(({ isUnfinished }) => isUnfinished)).toEqual([false, false]);
  expect(await swapGenerations(world.stores.postgres, 'newer')).toMatchObject({ generation: 3, served: true });
  await expect(swapGenerations(world.stores.postgres, 'newer')).rejects.toMatchObject({ code: 'nothing_to_swap' });
  await expect(dropGeneration(world.stores, 3)).rejects.toMatchObject({ code: 'generation_not_dropped' });
  await world.feeds[0]?.append(first.slice(TIP, TIP + 30));
  await world.run();
  await world.feeds[0]?.rewind(first[TIP - 1]?.height ?? 0);
  await world.run();
  expect(await swapGenerations(world.stores.postgres, 'older')).toMatchObject({ generation: 1, served: true });
  expect((await servedGeneration(pool())).generation).toBe(1);
  expect(await allRows(world.stores)).toEqual(served);
});

it('leaves nothing of a dropped generation, and never uses its number again', async () => {
  await dropGeneration(world.stores, 3);
  expect(await numbers()).toEqual([1]);
  expect((await allRows(world.stores, 3)).stamps).toEqual([]);
  expect((await allRows(world.stores, 3))['clickhouse conversions']).toEqual([]);
  await world.run();
  expect(await allRows(world.stores)).toEqual(served);
  expect(await begin(world, config)).toMatchObject({ generation: 4 });
});
