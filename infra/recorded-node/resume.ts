/** Puts a recorded node where the chain of whoever follows it ends: going back to the start would be a reorganisation below finality. */
import type { RecordedNode } from './recorded-node.ts';

export interface Follower {
  readonly height: number;
  readonly hash: string;
}

/** Blocks that come one by one before the fork, so that the reorganisation is seen. */
const BEFORE_FORK = 5;

export function standWhere(node: RecordedNode, last: Follower | null): void {
  const height = Math.max(last?.height ?? 0, node.fork - BEFORE_FORK);
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
