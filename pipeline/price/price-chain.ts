/** A chain in the price stage: its position in the stores, and the records read beyond it. */
import type { ChainView, PricedBlock } from '../../processors/pricing/chain-view.ts';
import type { ChainConfig } from '../../schemas/config.ts';

export interface PriceChain extends Pick<ChainConfig, 'name' | 'stableAnchors' | 'finalityDepth' | 'minBasketAge'> {
  readonly nativeCurrencyId: string;
}

/** The newest block of a chain that has its tick. */
export interface TickedBlock {
  readonly height: number;
  readonly hash: string;
  readonly clock: number;
}

export interface ChainCursor {
  readonly chain: PriceChain;
  /** Null before the chain's first tick. */
  ticked: TickedBlock | null;
  /** View after `ticked`; null while the stores are on another branch than `ticked`: a rewind record will follow. */
  view: ChainView | null;
  /** Blocks that were read, in order, and wait for their ticks. */
  queue: PricedBlock[];
  /** Position of the facts record to read next. */
  next: number;
  /** Nothing is folded before this position is read, because a known rewind may remove blocks before it. */
  readThrough: number;
  /** Set when the record to read next was found uncommitted: derive's commit of `source` releases it. */
  withheld?: { readonly position: number; readonly source: number };
  /** Whether everything that derive has committed was read. */
  isAtEnd: boolean;
  /** Newest height that derive has committed; null while it has none. */
  derivedHeight: number | null;
}

/** The chain's clock as far as it was read; below every clock before its first block. */
export function newestClock(cursor: ChainCursor): number {
  return cursor.queue.at(-1)?.clock ?? cursor.ticked?.clock ?? Number.NEGATIVE_INFINITY;
}

/** Whether the next record exists, but waits for derive's commit. */
export function isWithheld({ withheld, next }: ChainCursor): boolean {
  return withheld?.position === next;
}

/** Whether enough of the chain was read. Blocks of a single clock do not show that the chain has passed that clock. */
export function hasEnough({ queue, next, readThrough }: ChainCursor, maxQueued: number): boolean {
  const isFull = queue.length >= maxQueued && (queue[0]?.clock ?? 0) < (queue.at(-1)?.clock ?? 0);
  return isFull && next > readThrough;
}

/**
 * Finds a chain that was configured later than others, or was left out for a while: its next block belongs before existing ticks. Null
 * when every waiting block comes after them.
 */
export function lateChain(cursors: readonly ChainCursor[]): ChainCursor | null {
  const isLate = (cursor: ChainCursor, index: number): boolean => {
    const first = cursor.queue[0];
    return (
      first !== undefined &&
      cursors.some(({ ticked }, other) => {
        return ticked !== null && (ticked.clock > first.clock || (ticked.clock === first.clock && other > index));
      })
    );
  };
  return cursors.find(isLate) ?? null;
}
