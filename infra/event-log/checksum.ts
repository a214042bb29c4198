/** CRC-32 of a record, its position included: a record that moved is noticed as well. */
import { crc32 } from 'node:zlib';

export function recordChecksum(position: number, payload: Uint8Array): number {
  const ofPosition = crc32(String(position));
  // zlib restarts the checksum without memory, and an empty array may have some or none.
  return payload.byteLength === 0 ? ofPosition : crc32(payload, ofPosition);
}
