/** Merging the blocks of several chains into one list. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mergedByTime } from './pulse-routes.ts';

interface Block {
  readonly chain: number;
  readonly height: number;
  readonly time: number;
}

const lists = fc
  .array(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 20 }), { maxLength: 4 })
  .map((chains) =>
    chains.map((times, chain) => times.map((time, at): Block => ({ chain, height: times.length - at, time }))),
  );

it('keeps the order within each chain, whatever the block times, and takes the latest of the next blocks first', () => {
  fc.assert(
    fc.property(lists, (chains) => {
      const merged = mergedByTime(chains);
      for (const [chain, blocks] of chains.entries()) {
        expect(merged.filter((block) => block.chain === chain)).toEqual(blocks);
      }
      const left = chains.map((blocks) => [...blocks]);
      for (const block of merged) {
        expect(block.time).toBe(Math.max(...left.flatMap(([next]) => next?.time ?? [])));
        left[block.chain]?.shift();
      }
    }),
  );
});
