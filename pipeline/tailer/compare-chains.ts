/** Compares the daemon's best chain with ours by hashes, not by height: a branch wins by work and stake and may be shorter. */
import type { BlockRef } from '../../domain/block-ref.ts';

export type ChainComparison =
  /** The same tip. */
  | { readonly kind: 'equal' }
  /** The daemon has more blocks on our branch. */
  | { readonly kind: 'ahead' }
  /** The daemon has fewer blocks of our branch, and no others. */
  | { readonly kind: 'behind' }
  /** The daemon is on another branch; `fork` is the newest common block. */
  | { readonly kind: 'forked'; readonly fork: BlockRef }
  /** The chains have no common block. */
  | { readonly kind: 'unrelated' };

export type HashAt = (height: number) => Promise<string | null>;

/** The daemon may move meanwhile, so 'forked' is certain only after a block after the fork has confirmed it. */
export async function compareChains(
  ours: { readonly tip: BlockRef | null; readonly hashAt: HashAt },
  theirs: { readonly tip: BlockRef; readonly hashAt: HashAt },
): Promise<ChainComparison> {
  if (!ours.tip) return { kind: 'ahead' };
  const top = Math.min(ours.tip.height, theirs.tip.height);
  const theirHash = top === theirs.tip.height ? theirs.tip.hash : await theirs.hashAt(top);
  if (theirHash === (await ours.hashAt(top))) {
    if (theirs.tip.height === ours.tip.height) return { kind: 'equal' };
    return { kind: theirs.tip.height > ours.tip.height ? 'ahead' : 'behind' };
  }
  const fork = await findFork(top, ours.hashAt, theirs.hashAt);
  return fork ? { kind: 'forked', fork } : { kind: 'unrelated' };
}

/**
 * Returns the newest common block below `differing`. Chains that share a block share all blocks before it, so doubling steps find a
 * shared block and a binary search finds the newest: two calls for a fork one block deep, some forty for one a million deep.
 */
async function findFork(differing: number, ours: HashAt, theirs: HashAt): Promise<BlockRef | null> {
  async function shared(height: number): Promise<BlockRef | null> {
    const [our, their] = await Promise.all([ours(height), theirs(height)]);
    return our !== null && our === their ? { height, hash: our } : null;
  }
  let high = differing;
  let fork: BlockRef | null = null;
  for (let step = 1; !fork && high > 0; step *= 2) {
    const probe = Math.max(0, differing - step);
    fork = await shared(probe);
    if (!fork) high = probe;
  }
  while (fork && high - fork.height > 1) {
    const middle = Math.floor((high + fork.height) / 2);
    const found = await shared(middle);
    if (found) fork = found;
    else high = middle;
  }
  return fork;
}
