/** Whatever the batches, crashes, rewinds and the order in which chains arrive: the rows are those of one straight run. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PriceChain } from './price-chain.ts';
import { otherBranch } from './testing/branches.ts';
import type { FedBlock } from './testing/facts-feed.ts';
import { allRows, createPriceWorld } from './testing/price-world.ts';
import { blockOf, slowChains } from './testing/slow-chains.ts';

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

type Action =
  | { readonly kind: 'append'; readonly chain: number; readonly count: number }
  | {
      readonly kind: 'fork';
      readonly chain: number;
      readonly depth: number;
      readonly length: number;
      readonly run: boolean;
    }
  | {
      readonly kind: 'run';
      readonly maxTicks: number;
      readonly maxRows: number;
      readonly maxQueued: number;
      readonly steps: number;
    }
  | { readonly kind: 'crash'; readonly maxTicks: number; readonly after: number };

const chain = fc.nat({ max: 7 });
const maxTicks = fc.integer({ min: 1, max: 120 });
const actions = fc.array(
  fc.oneof<fc.Arbitrary<Action>[]>(
    fc.record({ kind: fc.constant('append'), chain, count: fc.integer({ min: 1, max: 120 }) }),
    fc.record({
      kind: fc.constant('fork'),
      chain,
      depth: fc.integer({ min: 0, max: 25 }),
      length: fc.integer({ min: 0, max: 30 }),
      run: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('run'),
      maxTicks,
      maxRows: fc.integer({ min: 1, max: 500 }),
      maxQueued: fc.integer({ min: 1, max: 40 }),
      steps: fc.integer({ min: 1, max: 6 }),
    }),
    fc.record({ kind: fc.constant('crash'), maxTicks, after: fc.nat({ max: 25 }) }),
  ),
  { minLength: 4, maxLength: 14 },
);

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
      fc.asyncProperty(actions, async (script) => {
        const world = await createPriceWorld({ chains, ...config });
        try {
          await play(world, blocks, script);
          expect(await allRows(world.stores)).toEqual(straight);
        } finally {
          await world.close();
        }
      }),
      { numRuns: Number(process.env.PRICE_RUNS ?? 8), endOnFailure: true },
    );
  }, 600_000);
});

async function play(
  world: Awaited<ReturnType<typeof createPriceWorld>>,
  blocks: Case['blocks'],
  script: readonly Action[],
) {
  const fed = blocks.map(() => 0);
  const append = async (index: number, count: number) => {
    const next = blocks[index]?.slice(fed[index], (fed[index] ?? 0) + count) ?? [];
    if (next.length > 0) await world.feeds[index]?.append(next);
    fed[index] = (fed[index] ?? 0) + next.length;
  };
  for (const [salt, action] of script.entries()) {
    if (action.kind === 'append') await append(action.chain % blocks.length, action.count);
    else if (action.kind === 'run') await world.run(action);
    else if (action.kind === 'crash') await crash(world, action.maxTicks, action.after);
    else {
      const index = action.chain % blocks.length;
      const [all, feed] = [blocks[index] ?? [], world.feeds[index]];
      const keep = Math.max(1, (fed[index] ?? 0) - action.depth);
      const kept = all[keep - 1];
      if ((fed[index] ?? 0) === 0 || !kept || !feed) continue;
      const branch = otherBranch(all.slice(keep, keep + action.length), salt + 1, blockOf(kept).clock);
      await feed.rewind(kept.height);
      if (branch.length > 0) await feed.append(branch);
      if (action.run) await world.run({ maxTicks: 50, maxQueued: 3 });
      await feed.rewind(kept.height);
      fed[index] = keep;
    }
  }
  for (const index of blocks.keys()) await append(index, Number.POSITIVE_INFINITY);
  await world.run({ maxTicks: 64, maxQueued: 5 });
}

class Crash extends Error {}

async function crash(world: Awaited<ReturnType<typeof createPriceWorld>>, maxTicks: number, after: number) {
  let left = after;
  const crashPoint = () => {
    if (left-- <= 0) throw new Crash();
  };
  try {
    await world.run({ maxTicks, crashPoint });
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
  }
}
