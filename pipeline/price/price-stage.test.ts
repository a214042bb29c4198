/** Single situations of the stage; exactly-once.test.ts tests it as a whole. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fact } from '../../schemas/facts.ts';
import { otherBranch, retimed } from '../../test/support/pipeline/price/branches.ts';
import type { FedBlock } from '../../test/support/pipeline/price/facts-feed.ts';
import { allRows, createPriceWorld, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { recordedDerivation } from '../../test/support/pipeline/price/recorded-derivation.ts';
import { recordedPriceChain } from '../../test/support/pipeline/price/recorded-price-chain.ts';

const main = recordedPriceChain({ minBasketAge: 20, stableAnchors: [] });
const second = { ...main, name: 'second' };
const config = { cutover: 0, minBasketDepthUsd: 1000 };
const genesis = recordedDerivation().slice(0, 4);

/** Blocks from height 0 at these clocks; each salt gives another branch. */
function branch(clocks: readonly number[], salt: number): FedBlock[] {
  const blocks = clocks.map((_, height) => ({ ...(genesis[0] ?? { hash: '', facts: [] }), height }));
  const made = retimed(blocks, (_, height) => clocks[height] ?? 0);
  return made.map(({ height, facts }) => {
    const hash = (height * 256 + salt).toString(16).padStart(64, '0');
    return {
      height,
      hash,
      facts: facts.filter(({ type }) => type === 'block').map((fact): Fact => ({ ...fact, hash }) as Fact),
    };
  });
}

describe('the price stage', () => {
  let world: PriceWorld;
  beforeEach(async () => {
    world = await createPriceWorld({ chains: [main, second], ...config });
  });
  afterEach(() => world.close());

  const ticks = async () => {
    const { rows } = await world.stores.postgres.pool.query<{
      chain: string;
      height: number;
      clock: bigint;
      tick: bigint;
    }>('SELECT tick, chain, height, clock FROM price_ticks ORDER BY tick');
    expect(rows.map(({ tick }) => Number(tick))).toEqual(rows.map((_, index) => index));
    return rows.map(({ chain, height, clock }) => `${chain} ${height} ${clock}`);
  };

  it('terminates when rewinds of two chains set each other back', async () => {
    const [x, y] = world.feeds;
    const xs = branch([100, 110], 1);
    await x?.append(xs);
    await x?.rewind(0);
    await x?.append(branch([100, 120], 2).slice(1));
    await x?.rewind(0);
    await x?.append(branch([100, 112, 140], 3).slice(1));
    await y?.append(branch([90, 105, 118], 1));
    await y?.rewind(0);
    await y?.append(branch([90, 115, 130, 150], 2).slice(1));
    await world.run({ maxQueued: 1, maxTicks: 1, steps: 300 });
    expect(await ticks()).toEqual([
      'second 0 90',
      'vrsc 0 100',
      'vrsc 1 112',
      'second 1 115',
      'second 2 130',
      'vrsc 2 140',
    ]);
  });

  it('undoes ticks that another chain had passed only on a removed branch', async () => {
    const [x, y] = world.feeds;
    await x?.append(branch([100, 200], 1));
    await y?.append(branch([100, 150, 300], 1));
    await world.run();
    expect(await ticks()).toEqual(['vrsc 0 100', 'second 0 100', 'second 1 150', 'vrsc 1 200']);
    await x?.rewind(0);
    await world.run();
    expect(await ticks()).toEqual(['vrsc 0 100']);
    await x?.append(branch([100, 130, 160], 2).slice(1));
    await world.run();
    expect(await ticks()).toEqual(['vrsc 0 100', 'second 0 100', 'vrsc 1 130', 'second 1 150', 'vrsc 2 160']);
  });

  it('folds nothing while derive is on another branch, until it reads the rewind', async () => {
    const [x, y] = world.feeds;
    await y?.append(branch([100, 1000], 1));
    await x?.append(branch([100, 101, 102, 103], 1));
    await world.run({ maxTicks: 1, maxQueued: 1, steps: 3 });
    const before = await ticks();
    await x?.append(otherBranch(branch([100, 101, 102, 103, 104], 1).slice(4), 1, 104));
    await x?.rewind(0);
    await x?.append(branch([100, 107], 2).slice(1));
    const stage = await world.run({ steps: 0 });
    expect(before.length).toBeGreaterThan(1);
    expect(stage.cursors[0]?.view).toBeNull();
    await world.run();
    expect(await ticks()).toEqual(['vrsc 0 100', 'second 0 100', 'vrsc 1 107']);
  });

  it('reads only what derive has committed', async () => {
    const [x, y] = world.feeds;
    await y?.append(branch([100, 1000], 1));
    await x?.append(branch([100, 101], 1));
    await world.stores.postgres.pool.query(
      `UPDATE stage_positions SET position = 0 WHERE stage = 'derive' AND chain = 'vrsc'`,
    );
    await world.run();
    expect(await ticks()).toEqual(['vrsc 0 100']);
    await world.stores.postgres.pool.query(
      `UPDATE stage_positions SET position = 1 WHERE stage = 'derive' AND chain = 'vrsc'`,
    );
    await world.run();
    expect(await ticks()).toEqual(['vrsc 0 100', 'second 0 100', 'vrsc 1 101']);
  });

  it('folds a chain that is configured later as if it had always been', async () => {
    const [x, y] = world.feeds;
    await x?.append(branch([100, 120, 140, 160], 1));
    await y?.append(branch([110, 120, 150, 190], 1));
    await world.run({ chains: [main] });
    expect(await ticks()).toEqual(['vrsc 0 100', 'vrsc 1 120', 'vrsc 2 140', 'vrsc 3 160']);
    await world.run({ maxTicks: 1, maxQueued: 1 });
    expect(await ticks()).toEqual([
      'vrsc 0 100',
      'second 0 110',
      'vrsc 1 120',
      'second 1 120',
      'vrsc 2 140',
      'second 2 150',
      'vrsc 3 160',
    ]);
  });

  it('folds a chain that was left out for a while as if it had always been configured', async () => {
    const [x, y] = world.feeds;
    await x?.append(branch([100, 120, 140], 1));
    await y?.append(branch([110, 120, 150, 190], 1));
    await world.run();
    await x?.append(branch([100, 120, 140, 300], 1).slice(3));
    await world.run({ chains: [main] });
    expect((await ticks()).at(-1)).toBe('vrsc 3 300');
    await world.run({ maxTicks: 1, maxQueued: 1 });
    expect(await ticks()).toEqual([
      'vrsc 0 100',
      'second 0 110',
      'vrsc 1 120',
      'second 1 120',
      'vrsc 2 140',
      'second 2 150',
      'second 3 190',
    ]);
  });

  it('waits for a chain that has no blocks yet', async () => {
    await world.feeds[0]?.append(branch([100, 101], 1));
    await world.run();
    expect(await ticks()).toEqual([]);
    expect((await allRows(world.stores)).positions).toEqual([]);
  });
});
