/** CRC-32 of a record and its position, which also detects a record at the wrong position. */
import { crc32 } from 'node:zlib';

export function recordChecksum(position: number, payload: Uint8Array): number {
  const ofPosition = crc32(String(position));
  // crc32 of an empty array without memory restarts the checksum; whether an empty array has memory varies.
  return payload.byteLength === 0 ? ofPosition : crc32(payload, ofPosition);
}
