/** Generations side by side: each equals a straight fold under its own regimes, whatever happens on the way. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RegimeRange } from '../../processors/pricing/regime-plan.ts';
import { otherBranch } from '../../test/support/pipeline/price/branches.ts';
import { allRows, createPriceWorld, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { blockOf, slowChains } from '../../test/support/pipeline/price/slow-chains.ts';

const { first: blocks, chains, cutover } = slowChains();
const [main] = chains;
const EVERYTHING = { from: null, to: null, chains: null };
const RANGES: readonly (readonly RegimeRange[])[] = [
  [{ regime: 'backfill', ...EVERYTHING }],
  [{ regime: 'backfill', from: cutover + 2 * 86_400, to: cutover + 4 * 86_400, chains: ['vrsc'] }],
];

const worlds: PriceWorld[] = [];
async function worldOf(ranges: readonly (readonly RegimeRange[])[]): Promise<PriceWorld> {
  const world = await createPriceWorld({ chains: [main], cutover, minBasketDepthUsd: 1000 });
  worlds.push(world);
  for (const [index, range] of ranges.entries()) {
    await world.stores.postgres.pool.query(
      `INSERT INTO generations VALUES ($1, $1 = 1, '', $2) ON CONFLICT (generation) DO UPDATE SET regimes = $2`,
      [index + 1, JSON.stringify(range)],
    );
  }
  return world;
}
afterAll(() => Promise.all(worlds.map((world) => world.close())));

let together: PriceWorld;
beforeAll(async () => {
  together = await worldOf([[], ...RANGES]);
  const [feed] = together.feeds;
  await feed?.append(blocks.slice(0, 180));
  await together.run({ maxTicks: 120 });
  await feed?.append(otherBranch(blocks.slice(180, 230), 3, blockOf(blocks[179]).clock));
  await together.run({ maxTicks: 120 });
  await feed?.rewind(blocks[159]?.height ?? 0);
  await feed?.append(blocks.slice(160));
  await together.run({ maxTicks: 150 });
});

it.each([[], ...RANGES].map((ranges, index) => ({ generation: index + 1, ranges })))(
  'generation $generation, stamped by $ranges',
  async ({ generation, ranges }) => {
    const alone = await worldOf([ranges]);
    await alone.feeds[0]?.append(blocks);
    await alone.run();
    expect(await allRows(together.stores, generation)).toEqual(await allRows(alone.stores));
  },
);

it('has different stamps in each generation', async () => {
  const { rows } = await together.stores.postgres.pool.query<{ stamps: string }>(
    `SELECT string_agg(concat_ws(' ', regime, usd_value, rule), ',' ORDER BY txid, vout) AS stamps FROM stamps GROUP BY generation`,
  );
  expect(new Set(rows.map(({ stamps }) => stamps)).size).toBe(RANGES.length + 1);
});
