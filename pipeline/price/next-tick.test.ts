/** The order of all blocks, and the height of each chain in it, compared with the definition. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyView, type PricedBlock } from '../../processors/pricing/chain-view.ts';
import { nextTick, takeTick } from './next-tick.ts';
import type { ChainCursor } from './price-chain.ts';

const NAMES = ['first', 'second', 'third'];

function block(chain: string, height: number, clock: number): PricedBlock {
  return { chain, position: height, height, hash: '', time: clock, clock, states: [], currencies: [], transfers: [] };
}

function cursor(index: number, clocks: readonly number[]): ChainCursor {
  const name = NAMES[index] ?? '';
  const chain = { name, nativeCurrencyId: '', stableAnchors: [], finalityDepth: 1, minBasketAge: 0 };
  const queue = clocks.map((clock, height) => block(name, height, clock));
  return {
    chain,
    ticked: null,
    view: emptyView(name),
    queue,
    next: queue.length,
    readThrough: -1,
    isAtEnd: true,
    derivedHeight: null,
  };
}

/** Ticks until nothing is complete: [chain, height, heights of all views]. */
function drain(cursors: readonly ChainCursor[]): [string, number, number[]][] {
  const ticks: [string, number, number[]][] = [];
  for (let next = nextTick(cursors); next; next = nextTick(cursors)) {
    ticks.push([next.block.chain, next.block.height, next.views.map(({ height }) => height)]);
    takeTick(next, cursors);
  }
  return ticks;
}

/** Few and close clocks, so that they often meet. */
const clocks = fc
  .array(fc.integer({ min: 0, max: 12 }), { minLength: 0, maxLength: 12 })
  .map((list) => list.sort((a, b) => a - b));
const worlds = fc.array(clocks, { minLength: 1, maxLength: 3 });

describe('the next tick', () => {
  it('comes by clock, chain and height, while every other chain has passed its clock', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const all = world.flatMap((list, chain) => list.map((clock, height) => ({ chain, height, clock })));
        all.sort((a, b) => a.clock - b.clock || a.chain - b.chain || a.height - b.height);
        const isComplete = ({ chain, clock }: (typeof all)[number]) =>
          world.every((list, other) => other === chain || (list.at(-1) ?? -1) > clock);
        const end = all.findIndex((tick) => !isComplete(tick));
        const complete = end < 0 ? all : all.slice(0, end);
        const standing = (tick: (typeof all)[number]) =>
          world.map((list, other) =>
            other === tick.chain ? tick.height : list.findLastIndex((clock) => clock <= tick.clock),
          );
        const expected = complete.map((tick) => [NAMES[tick.chain], tick.height, standing(tick)]);
        expect(drain(world.map((list, index) => cursor(index, list)))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('of a single chain never waits', () => {
    expect(drain([cursor(0, [5, 5, 9])])).toHaveLength(3);
  });

  it('waits for a chain that has not read through, or is on another branch than the stores', () => {
    const behind = { ...cursor(0, [1, 2]), readThrough: 2 };
    const astray = { ...cursor(0, [1, 2]), view: null };
    expect([nextTick([behind]), nextTick([astray])]).toEqual([null, null]);
  });
});
