/** A change of the pricing rules in the middle of a history is noticed, and folding again repairs it. */
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
/** More than the depth of most baskets. */
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

it('a mixture of two sets of rules is reported, whichever of them is configured later', async () => {
  await foldTo(END, { changed });
  for (const config of [before, now]) {
    expect(await warning(config)).toMatch(MIXED);
    expect(await warning(config)).not.toMatch(/set these back/);
    await expect(checkRules(pool(), rulesOf(config))).rejects.toMatchObject({ code: 'pricing_rules_changed' });
  }
});

it("folding again gives the same as today's rules from the beginning, without a mixture", async () => {
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

it('a generation is not continued after a fold under other rules, nor when a version without stored rules began it', async () => {
  await begin(world, before);
  await pool().query('UPDATE generations SET rules = NULL WHERE NOT served');
  await expect(begin(world, before)).rejects.toMatchObject({ code: 'generation_in_the_way' });
  await pool().query('UPDATE generations SET rules = $1 WHERE NOT served', [JSON.stringify(rulesOf(before))]);
  await withMaker(world, before, toTheEnd);
  await foldTo(END, { changed });
  await expect(begin(world, before)).rejects.toMatchObject({ code: 'generation_in_the_way' });
  await expect(begin(world, now)).rejects.toMatchObject({ code: 'generation_in_the_way' });
});

it('once all ticks are undone, here by a chain with earlier blocks, the rules are those of the new ticks', async () => {
  await foldTo(END, { changed });
  await world.feeds[1]?.append(second.slice(0, 10));
  await world.run({ changed });
  expect(await warning({ ...now, chains: [...chains] })).toBeNull();
});
