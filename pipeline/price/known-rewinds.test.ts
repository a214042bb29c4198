import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createKnownRewinds } from './known-rewinds.ts';

const rewind = fc.record({ position: fc.nat({ max: 40 }), height: fc.nat({ max: 20 }) });

it('knows whether any later rewind removes a block, in whatever order the rewinds were found', () => {
  fc.assert(
    fc.property(fc.uniqueArray(rewind, { selector: ({ position }) => position }), rewind, (rewinds, block) => {
      const known = createKnownRewinds();
      for (const { position, height } of rewinds) known.add(position, height);
      const expected = rewinds.some(({ position, height }) => position > block.position && height < block.height);
      expect(known.isVoid(block.position, block.height)).toBe(expected);
    }),
  );
});
