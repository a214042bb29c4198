/** Rewinds found further on in a chain's topic: the records that they remove need not be processed. */
import { partitionPoint } from '../../domain/partition-point.ts';

export interface KnownRewinds {
  /** Adds a rewind to `height`, in the record at `position`. */
  add(position: number, height: number): void;
  /** Whether a known rewind removes the block of this record. */
  isVoid(position: number, height: number): boolean;
}

export function createKnownRewinds(): KnownRewinds {
  /** Positions and heights ascend: a later rewind to the same height or below removes everything that an earlier one does. */
  const known: { readonly position: number; readonly height: number }[] = [];
  return {
    add(position, height) {
      const after = known.filter((other) => other.position > position);
      if (after.some((other) => other.height <= height)) return;
      const before = known.filter((other) => other.position < position && other.height < height);
      known.splice(0, known.length, ...before, { position, height }, ...after);
    },
    isVoid(position, height) {
      const next = known[partitionPoint(known, (rewind) => rewind.position <= position)];
      return next !== undefined && height > next.height;
    },
  };
}
