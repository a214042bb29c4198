/** Blocks parsed in slices: parsed they take many times the room of their text, and a slice is gone before it grows old. */
import { parseExact } from '../../schemas/exact-json.ts';
import type { BlockAppended } from '../../schemas/log-records.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import { LogDiffers } from './derive-errors.ts';

export interface ParsedBlock {
  readonly position: number;
  readonly block: DaemonBlock;
}

const SLICE_BLOCKS = 64;
const SLICE_BYTES = 1 << 20;

/** `breathe` is called after each block. @throws LogDiffers when a record holds another block than it says */
export async function* parsedSlices(
  chain: string,
  records: readonly BlockAppended[],
  breathe: () => Promise<void> | undefined,
): AsyncGenerator<readonly ParsedBlock[], undefined> {
  let slice: ParsedBlock[] = [];
  let bytes = 0;
  for (const record of records) {
    slice.push({ position: record.position, block: parseBlock(chain, record) });
    bytes += record.block.byteLength;
    await breathe();
    if (slice.length < SLICE_BLOCKS && bytes < SLICE_BYTES) continue;
    yield slice;
    slice = [];
    bytes = 0;
  }
  if (slice.length > 0) yield slice;
}

function parseBlock(chain: string, { block, height, hash, position }: BlockAppended): DaemonBlock {
  const parsed = parseExact(Buffer.from(block.buffer, block.byteOffset, block.byteLength).toString()) as DaemonBlock;
  if (parsed.hash === hash && parsed.height === height) return parsed;
  throw new LogDiffers(`Record ${position} of ${chain} is labelled block ${height} ${hash} but holds another one.`);
}
