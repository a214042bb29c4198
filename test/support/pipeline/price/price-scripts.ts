/**
 * Random event sequences for the price stage: blocks arrive, branches appear and are abandoned, the stage runs in batches of any size and
 * crashes.
 */
import fc from 'fast-check';
import { otherBranch } from './branches.ts';
import type { FedBlock } from './facts-feed.ts';
import type { PriceWorld } from './price-world.ts';
import { blockOf } from './slow-chains.ts';

export type Action =
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
export const scripts = fc.array(
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

/** Appends at the end whatever the script left out. `ran` is called each time the stage has ended normally. */
export async function play(
  world: PriceWorld,
  blocks: readonly (readonly FedBlock[])[],
  script: readonly Action[],
  ran: () => Promise<void> = async () => undefined,
): Promise<void> {
  const fed = blocks.map(() => 0);
  const append = async (index: number, count: number) => {
    const next = blocks[index]?.slice(fed[index], (fed[index] ?? 0) + count) ?? [];
    if (next.length > 0) await world.feeds[index]?.append(next);
    fed[index] = (fed[index] ?? 0) + next.length;
  };
  for (const [salt, action] of script.entries()) {
    if (action.kind === 'append') await append(action.chain % blocks.length, action.count);
    else if (action.kind === 'run') {
      await world.run(action);
      await ran();
    } else if (action.kind === 'crash') await crash(world, action.maxTicks, action.after);
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
  await ran();
}

class Crash extends Error {}

async function crash(world: PriceWorld, maxTicks: number, after: number) {
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
