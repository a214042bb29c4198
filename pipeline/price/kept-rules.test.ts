/** A configuration that changes the rules of pricing in the middle of a history: it is noticed, and folding again mends it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allRows, createPriceWorld, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { begin, EVERYTHING, toTheEnd, withMaker } from '../../test/support/pipeline/reprocess/make.ts';
import { swapGenerations } from '../reprocess/candidate-generation.ts';
import { checkRules, mixedGenerations } from './kept-rules.ts';
import { pricingRules } from './run-price.ts';

const { first, second, chains, cutover } = slowChains();
const main = chains.slice(0, 1);
const before = { chains: main, cutover, minBasketDepthUsd: 1000 };
/** More than what most baskets hold. */
const changed = { minBasketDepthUsd: 1_000_000 };
const now = { ...before, ...changed };
const HALF = 120;
const END = 200;

let world: PriceWorld;
const pool = () => world.stores.postgres.pool;
const rulesOf = (config: typeof before) => pricingRules(config.chains, { priceLimits: {}, ...config });
const mixedUnder = async (config: typeof before) =>
  (await mixedGenerations(pool(), rulesOf(config))).map((mixed) => [mixed.generation, ...mixed.changed]);

beforeAll(async () => {
  world = await createPriceWorld({ chains, cutover, minBasketDepthUsd: 1000 });
  await world.feeds[0]?.append(first.slice(0, HALF));
});
afterAll(() => world.close());

it('before there are prices, rules may be changed', async () => {
  await world.run({ chains: main, steps: 0 });
  expect(await mixedUnder(now)).toEqual([[1, 'minBasketDepthUsd']]);
  await world.run({ chains: main, changed, steps: 0 });
  expect(await mixedUnder(now)).toEqual([]);
  await world.run({ chains: main, changed: { minBasketDepthUsd: 1000 } });
  expect(await mixedUnder(before)).toEqual([]);
});

it('prices of two sets of rules are named, whichever of them is configured later', async () => {
  await world.run({ chains: main, changed });
  expect(await mixedUnder(now)).toEqual([[1, 'minBasketDepthUsd']]);
  await world.feeds[0]?.append(first.slice(HALF, END));
  await world.run({ chains: main, changed });
  expect(await mixedUnder(now)).toEqual([[1, 'minBasketDepthUsd']]);
  await expect(checkRules(pool(), rulesOf(now))).rejects.toMatchObject({
    code: 'pricing_rules_changed',
    message: expect.stringMatching(/generation 1 .*minBasketDepthUsd.*reprocess --regime cutover/),
  });
});

it("folding again gives what today's rules give from the beginning, and is not mixed", async () => {
  await begin(world, now, { regime: 'cutover', ...EVERYTHING });
  await withMaker(world, now, toTheEnd);
  await swapGenerations(world.stores.postgres, 'newer');
  await checkRules(pool(), rulesOf(now));
  const fresh = await createPriceWorld(now);
  try {
    await fresh.feeds[0]?.append(first.slice(0, END));
    await fresh.run();
    expect(await allRows(world.stores, 2)).toEqual(await allRows(fresh.stores));
    expect(await allRows(world.stores, 1)).not.toEqual(await allRows(fresh.stores));
  } finally {
    await fresh.close();
  }
});

it('once all ticks are undone, here for a chain that was there from the beginning, the rules are those of what follows', async () => {
  await world.feeds[1]?.append(second.slice(0, 10));
  await world.run({ changed });
  expect(await mixedUnder({ ...now, chains: [...chains] })).toEqual([]);
});
