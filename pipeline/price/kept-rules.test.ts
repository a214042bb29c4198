/** A configuration that changes the rules of pricing in the middle of a history: it is noticed, and folding again mends it. */
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { allRows, createPriceWorld, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { begin, EVERYTHING, toTheEnd, withMaker } from '../../test/support/pipeline/reprocess/make.ts';
import { swapGenerations } from '../reprocess/candidate-generation.ts';
import { checkRules, rulesWarning } from './kept-rules.ts';
import { foldedRulesOf } from './run-price.ts';

const { first, second, chains, cutover } = slowChains();
const main = chains.slice(0, 1);
const before = { chains: main, cutover, minBasketDepthUsd: 1000 };
/** More than what most baskets hold. */
const changed = { minBasketDepthUsd: 1_000_000 };
const now = { ...before, ...changed };
const HALF = 120;
const END = 200;
const MIXED = /generation \d .*minBasketDepthUsd.* changed.*reprocess --regime cutover/;

let world: PriceWorld;
const pool = () => world.stores.postgres.pool;
const rulesOf = (config: typeof before) => foldedRulesOf(config.chains, { priceLimits: {}, ...config });
const warning = (config: typeof before) => rulesWarning(pool(), rulesOf(config));

/** Folds half of the main chain under the former rules. */
beforeEach(async () => {
  world = await createPriceWorld({ chains, cutover, minBasketDepthUsd: 1000 });
  onTestFinished(() => world.close());
  await world.feeds[0]?.append(first.slice(0, HALF));
  await world.run({ chains: main });
});
const foldTo = async (end: number, options: Parameters<PriceWorld['run']>[0]) => {
  await world.feeds[0]?.append(first.slice(HALF, end));
  await world.run({ chains: main, ...options });
};

it('changed rules may be set back before anything is folded under them', async () => {
  expect(await warning(before)).toBeNull();
  await world.run({ chains: main, changed });
  expect(await warning(now)).toMatch(/set these back/);
  expect(await warning(before)).toBeNull();
});

it('prices of two sets of rules are named, whichever of them is configured later', async () => {
  await foldTo(END, { changed });
  for (const config of [before, now]) {
    expect(await warning(config)).toMatch(MIXED);
    expect(await warning(config)).not.toMatch(/set these back/);
    await expect(checkRules(pool(), rulesOf(config))).rejects.toMatchObject({ code: 'pricing_rules_changed' });
  }
});

it("folding again gives what today's rules give from the beginning, and is not mixed", async () => {
  await foldTo(END, { changed });
  await begin(world, now, { regime: 'cutover', ...EVERYTHING });
  await withMaker(world, now, toTheEnd);
  await swapGenerations(world.stores.postgres, 'newer');
  expect(await warning(now)).toBeNull();
  const fresh = await createPriceWorld(now);
  onTestFinished(() => fresh.close());
  await fresh.feeds[0]?.append(first.slice(0, END));
  await fresh.run();
  expect(await allRows(world.stores, 2)).toEqual(await allRows(fresh.stores));
  expect(await allRows(world.stores, 1)).not.toEqual(await allRows(fresh.stores));
});

it('a generation that has gone on under other rules is not gone on with, nor one of a version that kept none', async () => {
  await begin(world, before);
  await pool().query('UPDATE generations SET rules = NULL WHERE NOT served');
  await expect(begin(world, before)).rejects.toMatchObject({ code: 'generation_in_the_way' });
  await pool().query('UPDATE generations SET rules = $1 WHERE NOT served', [JSON.stringify(rulesOf(before))]);
  await withMaker(world, before, toTheEnd);
  await foldTo(END, { changed });
  await expect(begin(world, before)).rejects.toMatchObject({ code: 'generation_in_the_way' });
  await expect(begin(world, now)).rejects.toMatchObject({ code: 'generation_in_the_way' });
});

it('once all ticks are undone, here for a chain that was there from the beginning, the rules are those of what follows', async () => {
  await foldTo(END, { changed });
  await world.feeds[1]?.append(second.slice(0, 10));
  await world.run({ changed });
  expect(await warning({ ...now, chains: [...chains] })).toBeNull();
});
