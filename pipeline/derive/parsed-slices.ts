/** Parses blocks in slices: a parsed block takes many times the memory of its text, and a slice is garbage while it is still young. */
import type { ReadableBlock } from '../../processors/faults/readable-block.ts';
import type { PackedBlock } from '../../schemas/log-codec.ts';
import { readBlock } from './read-block.ts';

export interface ParsedBlock extends ReadableBlock {
  readonly record: PackedBlock;
}

const SLICE_BLOCKS = 64;
const SLICE_BYTES = 1 << 20;

/** Calls `yieldToEventLoop` after each block. @throws LogDiffers when a record contains another block than its label names */
export async function* parsedSlices(
  chain: string,
  records: readonly PackedBlock[],
  yieldToEventLoop: () => Promise<void> | undefined,
): AsyncGenerator<readonly ParsedBlock[], undefined> {
  let slice: ParsedBlock[] = [];
  let bytes = 0;
  for (const record of records) {
    slice.push({ record, ...readBlock(chain, record) });
    bytes += record.unpackedBytes;
    await yieldToEventLoop();
    if (slice.length < SLICE_BLOCKS && bytes < SLICE_BYTES) continue;
    yield slice;
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) yield slice;
}
