/**
 * Consecutive records in one row of a log file. Packed together, they take a fraction of the CPU and of the space that they take one by one:
 * docs/decisions/0136-records-packed-together.md. A row is
 *
 *     number of records: uint32
 *     unpacked bytes of the content: uint32, 0 when the content is stored as it is
 *     content, as one zstd frame or as it is:
 *       length of each record: uint32, left out where the group is one record
 *       the records
 *
 * Integers are little-endian.
 */
import { asBuffer } from '../../../domain/as-buffer.ts';
import { pack, unpack } from '../../../schemas/avro/compression.ts';
import type { LogRecord } from '../event-log.ts';

export const GROUP_HEAD_BYTES = 8;

/** A larger record is a group of its own and is stored as it is: the codec has packed it. */
export const MAX_GROUP_BYTES = 256 * 1024;

const UNPACKED_BYTES_AT = 4;
const LENGTH_BYTES = 4;
/** Packing less is not worth the call. */
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

/** Reused for every group: V8 collects garbage after every 32 MiB of new buffers, however short-lived they are. */
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

/** How many records a row that begins with `head` says it has; 1 where it is damaged. */
export function recordsInGroup(head: Uint8Array): number {
  return head.byteLength < GROUP_HEAD_BYTES ? 1 : asBuffer(head).readUInt32LE();
}

/** Null when `row` is not as packGroup makes it. */
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

/** Valid until the next call. */
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
