/** Sets a recorded node to where its follower's chain ends; starting over would be a reorganisation below finality. */
import type { BlockRef } from '../../domain/block-ref.ts';
import type { RecordedNode } from './recorded-node.ts';

/** Number of blocks released one by one before the fork, so that the follower sees the reorganisation. */
const BEFORE_FORK = 5;

/** `start` is the height for a follower whose chain is shorter. */
export function standWhere(node: RecordedNode, last: BlockRef | null, start = node.fork - BEFORE_FORK): void {
  const height = Math.max(last?.height ?? 0, start);
  if (last && height > node.fork) {
    try {
      node.branch('orphan', height);
      if (node.hash === last.hash) return;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error; // above the end of that branch
    }
  }
  node.advanceTo(Math.min(height, node.tip));
}
