/** Maps positions to offsets of a topic: keeps a few known records, from which it derives lower bounds for the others. */

export interface OffsetIndex {
  /** Remembers that the record at `position` has this offset. */
  remember(position: number, offset: number): void;
  /** Returns an offset at or before the record. Each record takes one offset, and markers and aborted records take further ones. */
  lowerBound(position: number): number;
}

const CAPACITY = 64;

export function createOffsetIndex(): OffsetIndex {
  // Ordered by use; the oldest entry is evicted first.
  const offsets = new Map<number, number>([[0, 0]]);
  return {
    remember(position, offset) {
      offsets.delete(position);
      offsets.set(position, offset);
      const [oldest] = offsets.keys();
      if (offsets.size > CAPACITY && oldest !== undefined) offsets.delete(oldest);
    },
    lowerBound(position) {
      let bound = position;
      for (const [known, offset] of offsets) if (known <= position) bound = Math.max(bound, offset + position - known);
      return bound;
    },
  };
}
