/**
 * Any of three chains stands still, returns, rewinds or continues on another branch, at any moment and at any distance, while the stage
 * stays open or restarts: the stores always show what a plain computation gives for the existing blocks.
 */
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { otherBranch } from '../../test/support/pipeline/price/branches.ts';
import { checkPublished } from '../../test/support/pipeline/price/check-published.ts';
import type { FedBlock } from '../../test/support/pipeline/price/facts-feed.ts';
import { plainPrices, shownRows } from '../../test/support/pipeline/price/plain-prices.ts';
import {
  allRows,
  createPriceWorld,
  type OpenStage,
  type PriceWorld,
} from '../../test/support/pipeline/price/price-world.ts';
import { blockOf, slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { pricingRules } from './run-price.ts';

const { first, second, third, chains: both, thirdChain, cutover } = slowChains();
const chains = [...both, thirdChain] as const;
const blocks = [first, second, third];
const config = { cutover, minBasketDepthUsd: 1000 };
const rules = pricingRules(chains, { ...config, priceLimits: {} });
/** Blocks that wait in a queue or are read at once. */
const LIMITS = { maxTicks: 40, maxRows: 300, maxQueued: 6 };

let straight: Record<string, string[]> = {};
beforeAll(async () => {
  const world = await createPriceWorld({ chains, ...config });
  for (const [index, feed] of world.feeds.entries()) await feed.append(blocks[index] ?? []);
  await world.run();
  straight = await allRows(world.stores);
  await world.close();
});

type Action =
  | { readonly kind: 'append'; readonly chain: number; readonly count: number }
  | { readonly kind: 'fork'; readonly chain: number; readonly depth: number; readonly length: number }
  | { readonly kind: 'return'; readonly chain: number }
  | { readonly kind: 'restart' }
  /** Crashes at one of the statements, commits and appends that follow. */
  | { readonly kind: 'crash'; readonly after: number };

const chain = fc.nat({ max: 2 });
const scripts = fc.array(
  fc.oneof<fc.WeightedArbitrary<Action>[]>(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('append'),
        chain,
        count: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 5, max: 130 })),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('fork'),
        chain,
        depth: fc.nat({ max: 20 }),
        length: fc.nat({ max: 15 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('return'), chain }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart') }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash'), after: fc.nat({ max: 12 }) }) },
  ),
  { minLength: 6, maxLength: 16 },
);

class Crash extends Error {}

/** The current blocks of each chain, and how many of them are those of the straight run. */
interface Branch {
  readonly own: number;
  readonly fork: readonly FedBlock[];
}

async function play(
  world: PriceWorld,
  script: readonly Action[],
  check: (shown: readonly (readonly FedBlock[])[]) => Promise<void>,
) {
  const branches: Branch[] = blocks.map(() => ({ own: 0, fork: [] }));
  const standing = () => branches.map(({ own, fork }, index) => [...(blocks[index] ?? []).slice(0, own), ...fork]);
  let untilCrash = Number.POSITIVE_INFINITY;
  const crashPoint = () => {
    if (untilCrash-- <= 0) throw new Crash();
  };
  let open: OpenStage = await world.open({ ...LIMITS, crashPoint });
  const reopen = async () => {
    untilCrash = Number.POSITIVE_INFINITY;
    await open.close();
    open = await world.open({ ...LIMITS, crashPoint });
  };
  const settle = async () => {
    try {
      await open.settle();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      await reopen();
      await open.settle();
    }
  };
  const giveUpFork = async (index: number) => {
    const { own = 0, fork = [] } = branches[index] ?? {};
    const kept = blocks[index]?.[own - 1];
    if (fork.length > 0 && kept) await world.feeds[index]?.rewind(kept.height);
    branches[index] = { own, fork: [] };
    return own;
  };
  const append = async (index: number, count: number) => {
    const own = await giveUpFork(index);
    const added = blocks[index]?.slice(own, own + count) ?? [];
    if (added.length > 0) await world.feeds[index]?.append(added);
    branches[index] = { own: own + added.length, fork: [] };
  };
  try {
    for (const [salt, action] of script.entries()) {
      if (action.kind === 'append') await append(action.chain, action.count);
      else if (action.kind === 'return') await giveUpFork(action.chain);
      else if (action.kind === 'restart') await reopen();
      else if (action.kind === 'crash') {
        untilCrash = action.after;
        continue;
      } else {
        const { chain: index, depth, length } = action;
        const fed = await giveUpFork(index);
        const own = Math.max(1, fed - depth);
        const [of, feed] = [blocks[index] ?? [], world.feeds[index]];
        const kept = of[own - 1];
        if (fed === 0 || !kept || !feed) continue;
        const fork = otherBranch(of.slice(own, own + length), salt + 1, blockOf(kept).clock);
        if (own < fed) await feed.rewind(kept.height);
        if (fork.length > 0) await feed.append(fork);
        branches[index] = { own, fork };
      }
      await settle();
      await check(standing());
    }
    for (const index of blocks.keys()) await append(index, Number.POSITIVE_INFINITY);
    await settle();
    await check(standing());
  } finally {
    await open.close();
  }
}

it('shows the result of a plain computation at every moment, and ends like a straight run', async () => {
  await fc.assert(
    fc.asyncProperty(scripts, async (script) => {
      const world = await createPriceWorld({ chains, ...config });
      try {
        await play(world, script, async (standing) => {
          const shown = await shownRows(world.stores.postgres.pool, chains[0].name);
          const plain = plainPrices(rules, standing);
          expect(shown.stamps).toEqual(plain.stamps);
          expect(shown.prices).toEqual(plain.prices);
          await checkPublished(world, chains, standing);
        });
        expect(await allRows(world.stores)).toEqual(straight);
      } finally {
        await world.close();
      }
    }),
    { numRuns: Number(process.env.AHEAD_RUNS ?? 3), endOnFailure: true },
  );
}, 600_000);
