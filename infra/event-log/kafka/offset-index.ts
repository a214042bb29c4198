/** Where positions lie in a topic: a few remembered records, from which the others are bounded from below. */

export interface OffsetIndex {
  /** Record `position` has this offset. */
  remember(position: number, offset: number): void;
  /** An offset that is not behind the record: each record takes an offset, and so do markers and aborted records. */
  lowerBound(position: number): number;
}

const CAPACITY = 64;

export function createOffsetIndex(): OffsetIndex {
  // In order of use: the oldest entry makes room.
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
