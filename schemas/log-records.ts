/** Records of the log's topics. `position` is ours (0, 1, 2 … in a partition), never the broker's offset. */
import type { Fact } from './facts.ts';

export const TOPICS = ['blocks', 'facts', 'stamps'] as const;
export type Topic = (typeof TOPICS)[number];

export interface BlockAppended {
  readonly kind: 'block';
  readonly position: number;
  readonly height: number;
  readonly hash: string;
  /** Null for the genesis block. */
  readonly previousHash: string | null;
  readonly time: number;
  /** `getblock hash 2` as the daemon sent it (the result member's bytes, UTF-8). */
  readonly block: Uint8Array;
}

export interface ChainRewound {
  readonly kind: 'rewind';
  readonly position: number;
  /** The newest block that stays. */
  readonly height: number;
  readonly hash: string;
  /** The block that was newest before. */
  readonly fromHeight: number;
}

export type BlocksRecord = BlockAppended | ChainRewound;

/** One record of `facts` for each record of `blocks`. */
export interface FactsAppended {
  readonly kind: 'facts';
  readonly position: number;
  /** Position of the block record they follow from. */
  readonly source: number;
  readonly height: number;
  readonly hash: string;
  readonly facts: readonly Fact[];
}

export interface FactsRewound {
  readonly kind: 'rewind';
  readonly position: number;
  readonly source: number;
  readonly height: number;
  readonly hash: string;
  readonly fromHeight: number;
}

export type FactsRecord = FactsAppended | FactsRewound;
