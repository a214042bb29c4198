/**
 * Whatever happens while a generation is made – blocks, rewinds, crashes, stops – it equals a straight fold under its regimes, and so
 * does the served one, also after a swap and back.
 */
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { RangeRegime } from '../../domain/stamps.ts';
import { type RegimeRange, withRange } from '../../processors/pricing/regime-plan.ts';
import { otherBranch } from '../../test/support/pipeline/price/branches.ts';
import {
  allRows,
  crashingClickHouse,
  crashingLock,
  createPriceWorld,
  type PriceWorld,
} from '../../test/support/pipeline/price/price-world.ts';
import { blockOf, slowChains } from '../../test/support/pipeline/price/slow-chains.ts';
import { begin, EVERYTHING, serveRanges, toTheEnd, withMaker } from '../../test/support/pipeline/reprocess/make.ts';
import { swapGenerations } from './candidate-generation.ts';
import type { MakeLimits, Phase } from './make-generation.ts';

const { first, second, chains, cutover } = slowChains();
/** XBTC has prices on both sides of the limit. */
const priceLimits = { i8PKS1ssNcZq5pVrHTfx31VWYLpNdg7rJ9: { max: '26500' } };
const config = { chains, cutover, minBasketDepthUsd: 1000, priceLimits };
const blocks = [first, second];
const DAY = 86_400;
const all = (regime: RangeRegime): RegimeRange => ({ regime, ...EVERYTHING });
const RANGES: readonly RegimeRange[] = [
  all('backfill'),
  all('live'),
  { regime: 'backfill', from: cutover + 2 * DAY, to: cutover + 6 * DAY, chains: ['twin'] },
];
/** How the served generation was stamped: with or without conversions that count as refunded. */
const SERVED: readonly (readonly RegimeRange[])[] = [[], [all('live')]];

type Action =
  | { readonly kind: 'append'; readonly chain: number; readonly count: number }
  | { readonly kind: 'fold' }
  | { readonly kind: 'fork'; readonly chain: number; readonly depth: number; readonly length: number }
  | { readonly kind: 'make'; readonly steps: number; readonly limits: MakeLimits; readonly crashAfter: number | null };

const chain = fc.nat({ max: 1 });
const limits: fc.Arbitrary<MakeLimits> = fc.record({
  maxTicks: fc.integer({ min: 20, max: 300 }),
  maxQueued: fc.integer({ min: 2, max: 200 }),
  maxCopied: fc.integer({ min: 5, max: 100 }),
  near: fc.integer({ min: 0, max: 40 }),
});
const weighted = (weight: number, arbitrary: fc.Arbitrary<Action>) => ({ weight, arbitrary });
const actions = fc.array(
  fc.oneof(
    weighted(2, fc.record({ kind: fc.constant('append'), chain, count: fc.integer({ min: 1, max: 60 }) })),
    weighted(2, fc.record({ kind: fc.constant('fold') })),
    weighted(
      1,
      fc.record({
        kind: fc.constant('fork'),
        chain,
        depth: fc.integer({ min: 0, max: 60 }),
        length: fc.integer({ min: 0, max: 30 }),
      }),
    ),
    weighted(
      4,
      fc.record({
        kind: fc.constant('make'),
        steps: fc.integer({ min: 1, max: 8 }),
        limits,
        crashAfter: fc.option(fc.nat({ max: 20 }), { nil: null }),
      }),
    ),
  ),
  { minLength: 6, maxLength: 10 },
);

const LIMITS: MakeLimits = { maxTicks: 300, maxQueued: 200, maxCopied: 100, near: 0 };
const EXAMPLES: [readonly RegimeRange[], RegimeRange, Action[]][] = [
  // A rewind finds rows in ClickHouse whose commit never came.
  [
    [],
    all('live'),
    [
      { kind: 'make', steps: 1, limits: LIMITS, crashAfter: 3 },
      { kind: 'fork', chain: 0, depth: 10, length: 5 },
      { kind: 'make', steps: 8, limits: LIMITS, crashAfter: null },
    ],
  ],
];

const worlds: PriceWorld[] = [];
async function worldOf(): Promise<PriceWorld> {
  const world = await createPriceWorld(config);
  worlds.push(world);
  return world;
}
afterAll(() => Promise.all(worlds.map((world) => world.close())));

async function straight(ranges: readonly RegimeRange[]): Promise<Record<string, string[]>> {
  const world = await worldOf();
  await serveRanges(world, ranges);
  for (const [index, feed] of world.feeds.entries()) await feed.append(blocks[index] ?? []);
  await world.run();
  return allRows(world.stores);
}

class Crash extends Error {}

describe('a generation that is made', () => {
  const folded = new Map<string, Promise<Record<string, string[]>>>();
  const straightly = (ranges: readonly RegimeRange[]) => {
    const key = JSON.stringify(ranges);
    const rows = folded.get(key) ?? straight(ranges);
    folded.set(key, rows);
    return rows;
  };

  it('has prices outside the configured limits, which are not believed, and prices within them', async () => {
    const stamps = (await straightly([all('backfill')])).stamps?.map((row) => JSON.parse(row)) ?? [];
    const max = Number(Object.values(priceLimits)[0]?.max);
    const limited = stamps.flatMap(({ reason, inputs: { from, to } }) => {
      const side = [from, to].find((one) => one?.limits !== undefined);
      return side && side.usd !== null ? [{ isOutside: Number(side.usd) > max, isDoubted: reason !== null }] : [];
    });
    expect(limited.filter(({ isOutside }) => isOutside).length).toBeGreaterThan(0);
    expect(limited.filter(({ isOutside }) => !isOutside).length).toBeGreaterThan(0);
    expect(limited.filter(({ isOutside, isDoubted }) => isOutside && !isDoubted)).toEqual([]);
  });

  it('has conversions that count as refunded for lack of a payout exactly when its regime has that rule', async () => {
    const unpaid = async (ranges: readonly RegimeRange[]) => {
      const rows = (await straightly(ranges)).stamps?.map((row) => JSON.parse(row)) ?? [];
      return rows.filter(({ reason }) => reason === 'no_delivery').length;
    };
    expect(await unpaid([all('live')])).toBe(0);
    expect(await unpaid([])).toBeGreaterThan(3);
    expect(await unpaid([all('backfill')])).toBeGreaterThan(3);
  });

  it('equals a straight fold, and leaves the served generation unchanged', async () => {
    const seen = new Set<Phase>();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...SERVED),
        fc.constantFrom(...RANGES),
        actions,
        async (ranges, range, script) => {
          const [served, expected] = [await straightly(ranges), await straightly(withRange(ranges, range))];
          const world = await worldOf();
          await serveRanges(world, ranges);
          await play(world, range, script, seen);
          expect(await allRows(world.stores)).toEqual(served);
          expect(await allRows(world.stores, 2)).toEqual(expected);
          await swapGenerations(world.stores.postgres, 'newer');
          await world.run();
          await swapGenerations(world.stores.postgres, 'older');
          expect(await allRows(world.stores)).toEqual(served);
          expect(await allRows(world.stores, 2)).toEqual(expected);
        },
      ),
      {
        numRuns: EXAMPLES.length + Number(process.env.MAKE_RUNS ?? 2),
        endOnFailure: true,
        examples: EXAMPLES,
      },
    );
    expect(seen).toEqual(new Set(['prices', 'stamps', 'copy', 'follow']));
  }, 600_000);
});

async function play(world: PriceWorld, range: RegimeRange, script: readonly Action[], seen: Set<Phase>): Promise<void> {
  const fed = [0, 0];
  const append = async (index: number, count: number) => {
    const next = blocks[index]?.slice(fed[index], (fed[index] ?? 0) + count) ?? [];
    if (next.length > 0) await world.feeds[index]?.append(next);
    fed[index] = (fed[index] ?? 0) + next.length;
  };
  await append(0, 150);
  await append(1, 150);
  await world.run();
  await begin(world, config, range);
  for (const [salt, action] of script.entries()) {
    if (action.kind === 'append') await append(action.chain, action.count);
    else if (action.kind === 'fold') await world.run();
    else if (action.kind === 'make') await make(world, action, seen);
    else {
      const all = blocks[action.chain] ?? [];
      const keep = Math.max(1, (fed[action.chain] ?? 0) - action.depth);
      const kept = all[keep - 1];
      const branch = otherBranch(all.slice(keep, keep + action.length), salt + 1, blockOf(kept).clock);
      await world.feeds[action.chain]?.rewind(kept?.height ?? 0);
      if (branch.length > 0) await world.feeds[action.chain]?.append(branch);
      await world.run();
      await make(
        world,
        { kind: 'make', steps: 2, limits: { maxTicks: 80, maxQueued: 40, maxCopied: 20, near: 5 }, crashAfter: null },
        seen,
      );
      await world.feeds[action.chain]?.rewind(kept?.height ?? 0);
      await world.run();
      fed[action.chain] = keep;
    }
  }
  for (const index of blocks.keys()) await append(index, 250 - (fed[index] ?? 0));
  await world.run();
  await withMaker(world, config, toTheEnd);
  for (const index of blocks.keys()) await append(index, Number.POSITIVE_INFINITY);
  await world.run({ maxTicks: 64, maxQueued: 5 });
}

async function make(world: PriceWorld, action: Extract<Action, { kind: 'make' }>, seen: Set<Phase>): Promise<void> {
  let left = action.crashAfter ?? Number.POSITIVE_INFINITY;
  const crashPoint = () => {
    if (left-- <= 0) throw new Crash();
  };
  const around: Parameters<typeof withMaker>[1]['around'] = ({ clickhouse, lock }) => ({
    clickhouse: crashingClickHouse(clickhouse, crashPoint),
    lock: crashingLock(lock, crashPoint),
  });
  try {
    await withMaker(world, { ...config, limits: action.limits, around }, async (maker) => {
      for (let step = 0; step < action.steps; step++) {
        const done = await maker.step();
        if (done === null) break;
        seen.add(done.phase);
      }
    });
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
  }
}
