/**
 * Consecutive records in one row of a log file. Packed together, they take a fraction of the CPU and space of separate records:
 * docs/decisions/0136-records-packed-together.md. The layout of a row:
 *
 *     number of records: uint32
 *     unpacked bytes of the content: uint32, 0 if the content is stored uncompressed
 *     content, as one zstd frame or uncompressed:
 *       length of each record: uint32, omitted if the group is one record
 *       the records
 *
 * Integers are little-endian.
 */
import { asBuffer } from '../../../domain/as-buffer.ts';
import { pack, unpack } from '../../../schemas/avro/compression.ts';
import type { LogRecord } from '../event-log.ts';

export const GROUP_HEAD_BYTES = 8;

/** A larger record forms a group of its own and is stored as is, because the codec has already compressed it. */
export const MAX_GROUP_BYTES = 256 * 1024;

const UNPACKED_BYTES_AT = 4;
const LENGTH_BYTES = 4;
/** Compressing less is not worth the call. */
const MIN_PACKED_BYTES = 128;

export interface RecordGroup {
  /** Position of the first record. */
  readonly position: number;
  readonly records: readonly LogRecord[];
}

/** Splits consecutive records into groups of at most MAX_GROUP_BYTES, in order. */
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

/** Reused for every group, because V8 collects garbage after every 32 MiB of new buffers, however short-lived they are. */
let scratch = Buffer.alloc(MAX_GROUP_BYTES);

export function packGroup(records: readonly LogRecord[]): Buffer {
  const content = contentOf(records);
  const head = Buffer.alloc(GROUP_HEAD_BYTES);
  head.writeUInt32LE(records.length);
  const isLarge = records.length === 1 && content.byteLength > MAX_GROUP_BYTES;
  const packed = isLarge || content.byteLength < MIN_PACKED_BYTES ? content : pack(content).packed;
  if (packed.byteLength >= content.byteLength) return Buffer.concat([head, content]);
  head.writeUInt32LE(content.byteLength, UNPACKED_BYTES_AT);
  return Buffer.concat([head, packed]);
}

/** Returns the number of records that the head of a row states; 1 if the head is truncated. */
export function recordsInGroup(head: Uint8Array): number {
  return head.byteLength < GROUP_HEAD_BYTES ? 1 : asBuffer(head).readUInt32LE();
}

/** Returns null if `row` is not a row that packGroup could have made. */
export function unpackGroup(position: number, row: Uint8Array): LogRecord[] | null {
  if (row.byteLength < GROUP_HEAD_BYTES) return null;
  const content = contentIn(asBuffer(row));
  const count = recordsInGroup(row);
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

/** The result is valid until the next call. */
function contentOf(records: readonly LogRecord[]): Buffer {
  const [first] = records;
  if (first && records.length === 1) return asBuffer(first.payload);
  const size = records.reduce((sum, { payload }) => sum + LENGTH_BYTES + payload.byteLength, 0);
  if (size > scratch.byteLength) scratch = Buffer.alloc(size);
  let at = records.length * LENGTH_BYTES;
  for (const [index, { payload }] of records.entries()) {
    scratch.writeUInt32LE(payload.byteLength, index * LENGTH_BYTES);
    scratch.set(payload, at);
    at += payload.byteLength;
  }
  return scratch.subarray(0, size);
}

function contentIn(row: Buffer): Buffer {
  const unpackedBytes = row.readUInt32LE(UNPACKED_BYTES_AT);
  const content = row.subarray(GROUP_HEAD_BYTES);
  return unpackedBytes === 0 ? content : unpack(content, unpackedBytes);
}
