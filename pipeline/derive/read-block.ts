/** Reads the block of a log record, as far as it can be parsed. */

import { isHash } from '../../domain/hashes.ts';
import { parseExact } from '../../domain/json/exact-json.ts';
import { type ReadableBlock, readableBlock, unreadable } from '../../processors/faults/readable-block.ts';
import { causeOf } from '../../processors/faults/redact.ts';
import { type PackedBlock, unpackBlock } from '../../schemas/log-codec.ts';
import { LogDiffers } from './derive-errors.ts';

/** @throws LogDiffers when a record contains another block than its label names */
export function readBlock(chain: string, record: PackedBlock): ReadableBlock {
  const { height, hash, previousHash, position } = record;
  const text = unpackBlock(record).toString();
  let raw: unknown;
  try {
    raw = parseExact(text);
  } catch (error) {
    return unreadable(null, causeOf(error));
  }
  const said = raw as { readonly hash?: unknown; readonly height?: unknown } | null;
  const differs = (isHash(said?.hash) && said.hash !== hash) || (isHeight(said?.height) && said.height !== height);
  if (differs) {
    throw new LogDiffers(`Record ${position} of ${chain} is labelled block ${height} ${hash} but holds another block.`);
  }
  return readableBlock(raw, previousHash);
}

function isHeight(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
