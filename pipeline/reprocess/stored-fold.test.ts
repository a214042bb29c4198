/** The fold over the stores notices when blocks that it has read ahead were removed, also when no tick was undone. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { otherBranch } from '../../test/support/pipeline/price/branches.ts';
import { createPriceWorld, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { blockOf, slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import type { PriceChain } from '../price/price-chain.ts';
import { pricingRules } from '../price/run-price.ts';
import { openStoredFold } from './stored-fold.ts';

const { first, second, chains, cutover } = slowChains();
const config = { cutover, minBasketDepthUsd: 1000, priceLimits: {} };

let world: PriceWorld;
beforeAll(async () => {
  world = await createPriceWorld({ chains, ...config });
  await world.feeds[0]?.append(first.slice(0, 60));
  await world.feeds[1]?.append(second.slice(0, 40));
  await world.run();
});
afterAll(() => world.close());

const openFold = (used: readonly PriceChain[] = chains) =>
  openStoredFold(
    {
      postgres: world.stores.postgres,
      generation: 2,
      chains: used,
      rules: pricingRules(used, config),
      maxTicks: 10,
      maxQueued: 100,
      withSettled: true,
      yieldToEventLoop: () => undefined,
    },
    -1,
  );

it('is refused while a chain that prices were folded from is not configured', async () => {
  const [left, missing] = chains;
  await expect(openFold(left && [left])).rejects.toMatchObject({
    code: 'price_chain_missing',
    message: expect.stringContaining(`blocks of ${missing?.name}, which the configuration lacks`),
  });
});

it('must be opened again after a rewind of blocks that had no tick yet', async () => {
  const { postgres } = world.stores;
  const newest = async () => Number((await postgres.pool.query('SELECT max(tick) FROM price_ticks')).rows[0].max);
  const before = await newest();
  const fold = await openFold();
  expect((await fold.next(before)).ticks).toHaveLength(10);
  expect((await fold.next(before)).ticks).toHaveLength(10);
  const kept = first[54];
  await world.feeds[0]?.rewind(kept?.height ?? 0);
  await world.feeds[0]?.append(otherBranch(first.slice(55, 60), 7, blockOf(kept).clock));
  await world.run();
  expect(await newest()).toBe(before);
  await expect(fold.next(before)).rejects.toMatchObject({ code: 'reprocess_disturbed' });
  expect((await (await openFold()).next(before)).ticks).toHaveLength(10);
});
