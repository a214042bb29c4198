import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BlockRef } from '../../domain/block-ref.ts';
import { type ChainComparison, compareChains, type HashAt } from './compare-chains.ts';

interface Side {
  readonly tip: BlockRef;
  readonly hashAt: HashAt;
}

let asked = 0;

/** A chain of `shared` common blocks, then `own` blocks that only it has. */
function side(name: string, shared: number, own: number): Side {
  const at = (height: number): string | null =>
    height < 0 || height >= shared + own ? null : `${height < shared ? 'shared' : name}-${height}`;
  const height = shared + own - 1;
  return {
    tip: { height, hash: at(height) ?? '' },
    async hashAt(wanted) {
      asked += 1;
      return at(wanted);
    },
  };
}

function expected(shared: number, ours: number, theirs: number): ChainComparison {
  if (ours === 0 && theirs === 0) return { kind: 'equal' };
  if (ours === 0) return { kind: 'ahead' };
  if (theirs === 0) return { kind: 'behind' };
  return shared === 0
    ? { kind: 'unrelated' }
    : { kind: 'forked', fork: { height: shared - 1, hash: `shared-${shared - 1}` } };
}

describe('compareChains', () => {
  it('finds the relation of two chains of any lengths', async () => {
    const blocks = fc.oneof(fc.constant(0), fc.nat(5), fc.nat(3000));
    await fc.assert(
      fc.asyncProperty(blocks, blocks, blocks, async (shared, ours, theirs) => {
        fc.pre(shared + ours > 0 && shared + theirs > 0);
        const found = await compareChains(side('ours', shared, ours), side('theirs', shared, theirs));
        expect(found).toEqual(expected(shared, ours, theirs));
      }),
      { numRuns: 1000 },
    );
  });

  it('finds any chain ahead of an empty log', async () => {
    expect(await compareChains({ tip: null, hashAt: async () => null }, side('theirs', 0, 1))).toEqual({
      kind: 'ahead',
    });
  });

  it('makes few calls for a shallow fork and not many for the deepest', async () => {
    asked = 0;
    await compareChains(side('ours', 3_000_000, 1), side('theirs', 3_000_000, 1));
    expect(asked).toBeLessThanOrEqual(4);
    asked = 0;
    await compareChains(side('ours', 1, 3_000_000), side('theirs', 1, 3_000_000));
    expect(asked).toBeLessThanOrEqual(100);
  });
});
