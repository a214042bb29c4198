/** Chooses the number of blocks of the next batch: as many as can be written in about four seconds (decision 0015). */

export interface BatchBounds {
  readonly maxBlocks: number;
  /** Bytes of decoded blocks. Soft: a single block of any size is accepted. */
  readonly maxBytes: number;
}

export interface BatchSize {
  limits(): BatchBounds;
  /** Records that a batch of `blocks` took `seconds` to write. */
  took(blocks: number, seconds: number): void;
}

/** A stop waits for the current batch, and other work in the process is delayed by it. */
const AIMED_SECONDS = 4;
const FIRST_BLOCKS = 256;
/** Bounds from one batch to the next: a first, small batch may be misleadingly quick. */
const MOST_GROWTH = 8;
const MOST_SHRINKAGE = 4;
export const LARGEST_BATCH: BatchBounds = { maxBlocks: 5000, maxBytes: 32 * 1024 * 1024 };

export function createBatchSize(largest: Partial<BatchBounds> = {}): BatchSize {
  const { maxBlocks, maxBytes } = { ...LARGEST_BATCH, ...largest };
  let blocks = Math.min(FIRST_BLOCKS, maxBlocks);
  return {
    limits: () => ({ maxBlocks: blocks, maxBytes }),
    took(done, seconds) {
      if (done < blocks / 2) return; // limited by the available blocks, not by the time
      const factor = Math.min(MOST_GROWTH, Math.max(1 / MOST_SHRINKAGE, AIMED_SECONDS / Math.max(seconds, 0.001)));
      blocks = Math.max(1, Math.min(maxBlocks, Math.round(blocks * factor)));
    },
  };
}
