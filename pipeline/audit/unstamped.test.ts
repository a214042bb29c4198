import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPriceWorld, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { createUnstampedCount, type UnstampedCount } from './unstamped.ts';

const { first: blocks, chains, cutover } = slowChains();
const [main] = chains;

let world: PriceWorld;
let unstamped: UnstampedCount;
beforeAll(async () => {
  world = await createPriceWorld({ chains: [main], cutover, minBasketDepthUsd: 1000 });
  unstamped = createUnstampedCount(world.stores.postgres, main.name);
});
afterAll(() => world.close());

it('is unknown before the first price, then the number of missing stamps', async () => {
  const [feed] = world.feeds;
  await feed?.append(blocks.slice(0, 150));
  expect(await unstamped.count()).toBeNull();
  await world.run();
  expect(await unstamped.count()).toBe(0);
  const { pool } = world.stores.postgres;
  // A conversion whose payout was not found is not settled, so it need not have a stamp.
  const { rowCount } = await pool.query(`DELETE FROM stamps WHERE vout = 0 AND reason IS DISTINCT FROM 'no_delivery'`);
  expect(rowCount).toBeGreaterThan(5);
  expect(await unstamped.count()).toBe(rowCount);
  // Stamps of blocks that prices have not reached are not missing.
  await feed?.append(blocks.slice(150));
  expect(await unstamped.count()).toBe(rowCount);
});
