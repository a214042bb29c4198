/**
 * Consecutive records in one row of a log file. Packed together they take a fraction of the CPU and of the room that each takes alone:
 * docs/decisions/0136-records-packed-together.md. A row is
 *
 *     unpackedBytes: uint32, 0 when the content is stored as it is
 *     content, as one zstd frame or as it is:
 *       length of each record: uint32, left out where the group is one record
 *       the records
 *
 * Integers are little-endian. The number of records stands in a column of its own, since it says where the next row begins.
 */
import { pack, unpack } from '../../../schemas/avro/compression.ts';
import type { LogRecord } from '../event-log.ts';

/** A record above it is a group of its own and is stored as it is: the codec has packed it. */
export const MAX_GROUP_BYTES = 256 * 1024;

const HEAD_BYTES = 4;
const LENGTH_BYTES = 4;
/** Below it packing saves nothing worth the call. */
const MIN_PACKED_BYTES = 128;

export interface RecordGroup {
  /** Position of the first record. */
  readonly position: number;
  readonly records: readonly LogRecord[];
}

/** Consecutive records in groups of at most MAX_GROUP_BYTES, in order. */
export function* groupsOf(records: readonly LogRecord[]): Generator<RecordGroup, void> {
  let begin = 0;
  let bytes = 0;
  for (const [index, { payload }] of records.entries()) {
    if (index > begin && bytes + payload.byteLength > MAX_GROUP_BYTES) {
      yield group(records.slice(begin, index));
      begin = index;
      bytes = 0;
    }
    bytes += payload.byteLength;
  }
  if (begin < records.length) yield group(records.slice(begin));
}

export function packGroup(records: readonly LogRecord[]): Buffer {
  const content = contentOf(records);
  const head = Buffer.alloc(HEAD_BYTES);
  const isSmall = content.byteLength < MIN_PACKED_BYTES;
  const packed = isSmall || content.byteLength > 2 * MAX_GROUP_BYTES ? content : pack(content).packed;
  if (packed.byteLength >= content.byteLength) return Buffer.concat([head, content]);
  head.writeUInt32LE(content.byteLength);
  return Buffer.concat([head, packed]);
}

/** Null when `row` is not what packGroup makes of `count` records. */
export function unpackGroup(position: number, count: number, row: Uint8Array): LogRecord[] | null {
  const content = unpackedContent(row);
  if (!content) return null;
  if (count === 1) return [{ position, payload: content }];
  const records: LogRecord[] = [];
  let begin = count * LENGTH_BYTES;
  if (begin > content.byteLength) return null;
  for (let index = 0; index < count; index += 1) {
    const end = begin + content.readUInt32LE(index * LENGTH_BYTES);
    records.push({ position: position + index, payload: content.subarray(begin, end) });
    begin = end;
  }
  return begin === content.byteLength ? records : null;
}

const group = (records: readonly LogRecord[]): RecordGroup => ({ position: records[0]?.position ?? 0, records });

function contentOf(records: readonly LogRecord[]): Buffer {
  const payloads = records.map(({ payload }) => payload);
  const [first] = payloads;
  if (first && payloads.length === 1) return asBuffer(first);
  const lengths = Buffer.alloc(payloads.length * LENGTH_BYTES);
  for (const [index, { byteLength }] of payloads.entries()) lengths.writeUInt32LE(byteLength, index * LENGTH_BYTES);
  return Buffer.concat([lengths, ...payloads]);
}

function unpackedContent(row: Uint8Array): Buffer | null {
  if (row.byteLength < HEAD_BYTES) return null;
  const bytes = asBuffer(row);
  const unpackedBytes = bytes.readUInt32LE();
  const content = bytes.subarray(HEAD_BYTES);
  return unpackedBytes === 0 ? content : unpack(content, unpackedBytes);
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
