/** zstd with a checksum, and a limit on what one record may unpack to. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { PermanentError } from '../errors.ts';

/** 128 MiB: twice the verbose JSON of the largest legal block (2 MB of smallest outputs, about 64 MB). */
export const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;

export interface Packed {
  readonly packed: Buffer;
  readonly unpackedBytes: number;
}

const SMALL_BYTES = 32 * 1024;
const LARGE_BYTES = 1024 * 1024;

// Level 1 packs a common block as small as 3 does in less than half of the time.
const COMMON = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 };
// node:zlib makes a context for each call, and most of its time for a common block was clearing a table larger than the block needs.
const SMALL = { ...COMMON, [constants.ZSTD_c_hashLog]: 12 };
// A large block repeats each transaction's hex megabytes later, out of the reach of the common window.
const LARGE = { ...COMMON, [constants.ZSTD_c_enableLongDistanceMatching]: 1, [constants.ZSTD_c_windowLog]: 27 };

/** @throws PermanentError log_record_too_large above MAX_UNPACKED_BYTES */
export function pack(bytes: Uint8Array): Packed {
  if (bytes.byteLength > MAX_UNPACKED_BYTES) throw tooLarge(bytes.byteLength);
  const params = paramsFor(bytes.byteLength);
  return {
    unpackedBytes: bytes.byteLength,
    packed: zstdCompressSync(bytes, {
      params,
      pledgedSrcSize: bytes.byteLength,
      chunkSize: room(bytes.byteLength / 2),
    }),
  };
}

/**
 * @throws PermanentError log_record_too_large when `unpackedBytes` is above MAX_UNPACKED_BYTES, log_record_unreadable when
 * the content is damaged or is not of exactly that size (node:zlib returns what it has of a cut frame, without an error)
 */
export function unpack(packed: Uint8Array, unpackedBytes: number): Buffer {
  if (unpackedBytes > MAX_UNPACKED_BYTES) throw tooLarge(unpackedBytes);
  let content: Buffer;
  try {
    content = zstdDecompressSync(packed, {
      maxOutputLength: Math.max(unpackedBytes, 1),
      chunkSize: room(unpackedBytes),
    });
  } catch (cause) {
    throw new PermanentError('log_record_unreadable', `a log record does not unpack: ${String(cause)}`, { cause });
  }
  if (content.length === unpackedBytes) return content;
  const message = `a log record unpacks to ${content.length} bytes instead of ${unpackedBytes}`;
  throw new PermanentError('log_record_unreadable', message);
}

function paramsFor(bytes: number): Record<number, number> {
  if (bytes <= SMALL_BYTES) return SMALL;
  return bytes > LARGE_BYTES ? LARGE : COMMON;
}

/** The answer fits into one piece as a rule, which saves putting pieces together; node:zlib wants 64 bytes or more. */
function room(bytes: number): number {
  return Math.max(64, Math.ceil(bytes));
}

function tooLarge(bytes: number): PermanentError {
  const message = `the content of a log record has ${bytes} bytes; the limit is ${MAX_UNPACKED_BYTES} (128 MiB)`;
  return new PermanentError('log_record_too_large', message);
}
