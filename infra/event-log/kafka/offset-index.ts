/** Maps positions to offsets of a topic: keeps a few known records, from which it derives lower bounds for the others. */
import { LRUCache } from 'lru-cache';

export interface OffsetIndex {
  /** Remembers that the record at `position` has this offset. */
  remember(position: number, offset: number): void;
  /** Returns an offset at or before the record. Each record takes one offset, and markers and aborted records take further ones. */
  lowerBound(position: number): number;
}

const CAPACITY = 64;

export function createOffsetIndex(): OffsetIndex {
  const offsets = new LRUCache<number, number>({ max: CAPACITY });
  return {
    remember(position, offset) {
      offsets.set(position, offset);
    },
    lowerBound(position) {
      let bound = position;
      for (const [known, offset] of offsets) if (known <= position) bound = Math.max(bound, offset + position - known);
      return bound;
    },
  };
}
