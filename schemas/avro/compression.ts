/** zstd, and a limit on what one record may unpack to. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { asBuffer } from '../../domain/as-buffer.ts';
import { PermanentError } from '../errors.ts';

/** 128 MiB: twice the verbose JSON of the largest legal block (2 MB of smallest outputs, about 64 MB). */
export const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;

/** `each`: every content is compressed alone. `together`: the log compresses many at once, so contents up to MAX_STORED_BYTES stay uncompressed. */
export type Packing = 'each' | 'together';

export interface Packed {
  readonly packed: Buffer;
  readonly unpackedBytes: number;
}

const SMALL_BYTES = 32 * 1024;
const LARGE_BYTES = 1024 * 1024;

// Level 1 packs a common block as small as 3 does in less than half of the time.
const COMMON = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 };
// node:zlib makes a context for each call; for a common block most of the time went into clearing a table larger than it needs.
const SMALL = { ...COMMON, [constants.ZSTD_c_hashLog]: 12 };
// A large block repeats each transaction's hex megabytes later, out of the reach of the common window.
const LARGE = { ...COMMON, [constants.ZSTD_c_enableLongDistanceMatching]: 1, [constants.ZSTD_c_windowLog]: 27 };

/** One raw block of zstd holds at most 128 KiB, and larger contents gain little from being compressed together. */
const MAX_STORED_BYTES = 64 * 1024;

/**
 * Returns a zstd frame, whatever the packing, as a view of `scratch` where that is given and the content stays uncompressed.
 * @throws PermanentError log_record_too_large above MAX_UNPACKED_BYTES
 */
export function pack(bytes: Uint8Array, packing: Packing = 'each', scratch?: Buffer): Packed {
  if (bytes.byteLength > MAX_UNPACKED_BYTES) throw tooLarge(bytes.byteLength);
  if (packing === 'together' && bytes.byteLength <= MAX_STORED_BYTES) return stored(bytes, scratch);
  const params = paramsFor(bytes.byteLength);
  return {
    unpackedBytes: bytes.byteLength,
    packed: zstdCompressSync(bytes, {
      params,
      pledgedSrcSize: bytes.byteLength,
      chunkSize: room(bytes.byteLength / 4),
    }),
  };
}

/**
 * @throws PermanentError log_record_too_large when `unpackedBytes` is above MAX_UNPACKED_BYTES, log_record_unreadable when
 * the content is damaged or is not of exactly that size (node:zlib returns the available part of a truncated frame, without an error)
 */
export function unpack(packed: Uint8Array, unpackedBytes: number): Buffer {
  if (unpackedBytes > MAX_UNPACKED_BYTES) throw tooLarge(unpackedBytes);
  const content = storedContent(packed) ?? decompressed(packed, unpackedBytes);
  if (content.byteLength === unpackedBytes) return content;
  const message = `a log record unpacks to ${content.byteLength} bytes instead of ${unpackedBytes}`;
  throw new PermanentError('log_record_unreadable', message);
}

function decompressed(packed: Uint8Array, unpackedBytes: number): Buffer {
  try {
    return zstdDecompressSync(packed, { maxOutputLength: Math.max(unpackedBytes, 1), chunkSize: room(unpackedBytes) });
  } catch (cause) {
    throw new PermanentError('log_record_unreadable', `a log record does not unpack: ${String(cause)}`, { cause });
  }
}

/**
 * Start of a frame (RFC 8878): the magic number and a descriptor (single segment, size in four bytes, no checksum). The size and the
 * header of the only block, which is the last one and raw, follow.
 */
const STORED_HEAD = Buffer.from('28b52ffda0', 'hex');
const SIZE_AT = STORED_HEAD.length;
const BLOCK_AT = SIZE_AT + 4;
const STORED_AT = BLOCK_AT + 3;

const blockHeader = (bytes: number) => bytes * 8 + 1;

/** Size of the largest frame whose content stays uncompressed. */
export const STORED_FRAME_BYTES = STORED_AT + MAX_STORED_BYTES;

/** Returns a frame that any zstd decoder reads, with the bytes uncompressed. */
function stored(bytes: Uint8Array, scratch: Buffer = Buffer.allocUnsafe(STORED_AT + bytes.byteLength)): Packed {
  const packed = scratch.subarray(0, STORED_AT + bytes.byteLength);
  STORED_HEAD.copy(packed);
  packed.writeUInt32LE(bytes.byteLength, SIZE_AT);
  packed.writeUIntLE(blockHeader(bytes.byteLength), BLOCK_AT, STORED_AT - BLOCK_AT);
  packed.set(bytes, STORED_AT);
  return { packed, unpackedBytes: bytes.byteLength };
}

/** Returns the content of a frame made by `stored`; null for any other frame. */
function storedContent(frame: Uint8Array): Buffer | null {
  const packed = asBuffer(frame);
  if (packed.byteLength < STORED_AT || packed.compare(STORED_HEAD, 0, SIZE_AT, 0, SIZE_AT) !== 0) return null;
  const bytes = packed.byteLength - STORED_AT;
  const isOneBlock = packed.readUIntLE(BLOCK_AT, STORED_AT - BLOCK_AT) === blockHeader(bytes);
  return isOneBlock && packed.readUInt32LE(SIZE_AT) === bytes ? packed.subarray(STORED_AT) : null;
}

function paramsFor(bytes: number): Record<number, number> {
  if (bytes <= SMALL_BYTES) return SMALL;
  return bytes > LARGE_BYTES ? LARGE : COMMON;
}

/** Chunk size with which most outputs fit into one chunk, which saves concatenation; node:zlib requires 64 bytes or more. */
function room(bytes: number): number {
  return Math.max(64, Math.ceil(bytes));
}

function tooLarge(bytes: number): PermanentError {
  const message = `the content of a log record has ${bytes} bytes; the limit is ${MAX_UNPACKED_BYTES} (128 MiB)`;
  return new PermanentError('log_record_too_large', message);
}
