/** Records whose bytes follow from their position, so that any reader can check them. */
import { createHash } from 'node:crypto';
import type { LogRecord } from '../../../../infra/event-log/event-log.ts';

/** A record of 0 to about 4,000 bytes. */
export function testRecord(position: number): LogRecord {
  const seed = createHash('sha256').update(`record ${position}`).digest();
  const bytes = seed.readUInt16BE() % 4_000;
  const repeated = Buffer.concat(Array.from({ length: Math.ceil(bytes / seed.length) }, () => seed));
  return { position, payload: repeated.subarray(0, bytes) };
}

export function testRecords(from: number, count: number): LogRecord[] {
  return Array.from({ length: count }, (_, i) => testRecord(from + i));
}

/** Returns whether a record has the bytes of its position. */
export function isTestRecord({ position, payload }: LogRecord): boolean {
  return Buffer.compare(testRecord(position).payload, payload) === 0;
}
