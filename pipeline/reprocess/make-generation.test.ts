/** A generation that is made beside the served one is what a straight fold under its regimes gives. */
import { afterAll, describe, expect, it } from 'vitest';
import type { RangeRegime, RegimeRange } from '../../processors/pricing/regime-plan.ts';
import { allRows, createPriceWorld, type PriceWorld } from '../price/testing/price-world.ts';
import { slowChains } from '../price/testing/slow-chains.ts';
import { beginGeneration } from './generations-beside.ts';
import { EVERYTHING, serveRanges, toTheEnd, withMaker } from './testing/make.ts';

const { first, second, chains, cutover } = slowChains();
const config = { chains, cutover, minBasketDepthUsd: 1000 };
const DAY = 86_400;

const worlds: PriceWorld[] = [];
afterAll(() => Promise.all(worlds.map((world) => world.close())));

async function foldedWorld(ranges: readonly RegimeRange[] = []): Promise<PriceWorld> {
  const world = await createPriceWorld(config);
  worlds.push(world);
  await serveRanges(world, ranges);
  await world.feeds[0]?.append(first);
  await world.feeds[1]?.append(second);
  await world.run();
  return world;
}

const all = (regime: RangeRegime): RegimeRange => ({ regime, ...EVERYTHING });

describe.each([
  all('live'),
  all('backfill'),
  { regime: 'backfill', from: cutover + 2 * DAY, to: cutover + 6 * DAY, chains: ['twin'] } as const,
])('stamped by $regime from $from to $to on $chains', (range) => {
  it('equals a straight fold', async () => {
    const world = await foldedWorld();
    const served = await allRows(world.stores);
    await beginGeneration(world.stores, range, 'test');
    await withMaker(world, { ...config, limits: { near: 3, maxTicks: 100, maxCopied: 50 } }, toTheEnd);
    const straight = await foldedWorld([range]);
    const [made, expected] = [await allRows(world.stores, 2), await allRows(straight.stores)];
    for (const table of Object.keys(expected)) expect([table, made[table]]).toEqual([table, expected[table]]);
    expect(await allRows(world.stores)).toEqual(served);
  });
});
