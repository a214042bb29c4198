import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogRecord } from '../event-log.ts';
import { groupsOf, MAX_GROUP_BYTES, packGroup, recordsInGroup, unpackGroup } from './record-group.ts';

/** Bytes that zstd can or cannot compress. */
const payload = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 20_000 }).map((bytes) => Buffer.alloc(bytes, '{"txid":"00"}')) },
  { weight: 2, arbitrary: fc.nat({ max: 20_000 }).map((bytes) => randomBytes(bytes)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0, 1, MAX_GROUP_BYTES, MAX_GROUP_BYTES + 1).map((bytes) => Buffer.alloc(bytes)),
  },
);
const records = fc
  .tuple(fc.nat({ max: 1_000_000 }), fc.array(payload, { minLength: 1, maxLength: 120 }))
  .map(([from, payloads]) => payloads.map((bytes, index): LogRecord => ({ position: from + index, payload: bytes })));

const isEqual = (a: readonly LogRecord[], b: readonly LogRecord[] | null) =>
  a.length === b?.length &&
  a.every(({ position, payload }, index) => {
    const other = b[index];
    return other?.position === position && Buffer.compare(other.payload, payload) === 0;
  });

describe('groups of records', () => {
  it('unpack to the original records, in bounded groups without gaps', () => {
    fc.assert(
      fc.property(records, (appended) => {
        const found: LogRecord[] = [];
        for (const group of groupsOf(appended)) {
          expect(group.position).toBe(appended[found.length]?.position);
          const bytes = group.records.reduce((sum, { payload }) => sum + payload.byteLength, 0);
          expect(group.records.length === 1 || bytes <= MAX_GROUP_BYTES).toBe(true);
          const unpacked = unpackGroup(group.position, packGroup(group.records));
          expect(isEqual(group.records, unpacked)).toBe(true);
          found.push(...(unpacked ?? []));
        }
        expect(isEqual(appended, found)).toBe(true);
      }),
    );
  });

  it('are filled up to the limit', () => {
    const quarter = Array.from({ length: 9 }, (_, position) => ({
      position,
      payload: Buffer.alloc(MAX_GROUP_BYTES / 4),
    }));
    expect([...groupsOf(quarter)].map((group) => group.records.length)).toEqual([4, 4, 1]);
    expect([...groupsOf([])]).toEqual([]);
  });

  it('take no more space than their records and lengths', () => {
    fc.assert(
      fc.property(records, (appended) => {
        for (const group of groupsOf(appended)) {
          const bytes = group.records.reduce((sum, { payload }) => sum + payload.byteLength, 0);
          const lengths = group.records.length === 1 ? 0 : 4 * group.records.length;
          expect(packGroup(group.records).byteLength).toBeLessThanOrEqual(8 + lengths + bytes);
        }
      }),
    );
  });

  it('are refused with a wrong number of records, and when they are truncated', () => {
    const appended = [3, 4, 5].map((position) => ({ position, payload: Buffer.from(`record ${position}`) }));
    const row = packGroup(appended);
    expect(recordsInGroup(row)).toBe(3);
    for (const count of [0, 2, 4, 1000, 2 ** 32 - 1]) {
      const damaged = Buffer.from(row);
      damaged.writeUInt32LE(count);
      expect(unpackGroup(3, damaged)).toBeNull();
    }
    for (const length of [0, 7, 8, 19, row.length - 1]) expect(unpackGroup(3, row.subarray(0, length))).toBeNull();
    expect(unpackGroup(3, Buffer.concat([row, Buffer.from([0])]))).toBeNull();
  });
});
