/** Blocks parsed in slices: parsed they take many times the room of their text, and a slice is gone before it grows old. */
import type { ReadableBlock } from '../../processors/faults/readable-block.ts';
import type { PackedBlock } from '../../schemas/log-codec.ts';
import { readBlock } from './read-block.ts';

export interface ParsedBlock extends ReadableBlock {
  readonly record: PackedBlock;
}

const SLICE_BLOCKS = 64;
const SLICE_BYTES = 1 << 20;

/** `breathe` is called after each block. @throws LogDiffers when a record holds another block than it says */
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
