import { randomBytes } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blocksRecord, factsRecord } from '../test/support/schemas/avro/arbitrary-records.ts';
import { MAX_UNPACKED_BYTES, pack, unpack } from './avro/compression.ts';
import { crc64Avro } from './avro/fingerprint.ts';
import { encodeSingleObject, schemaFingerprint } from './avro/single-object.ts';
import { type FactOf, PUBLISHED_FACTS } from './facts.ts';
import { decodeBlocksRecord, decodeFactsRecord, encodeBlocksRecord, encodeFactsRecord } from './log-codec.ts';
import type { BlockAppended, FactsAppended } from './log-records.ts';

const block: BlockAppended = {
  kind: 'block',
  position: 7,
  height: 5,
  hash: 'aa',
  previousHash: 'bb',
  time: 1,
  block: Buffer.from('{"amount":10000000000.00000001}'),
};

const activity: FactOf<'activity'> = {
  type: 'activity',
  address: 'R1',
  txid: 't1',
  txIndex: 0,
  received: 10n ** 18n,
  sent: 0n,
  currencies: { i1: { received: 10n ** 18n + 1n, sent: 0n } },
};

const facts: FactsAppended = { kind: 'facts', position: 1, source: 1, height: 1, hash: 'aa', facts: [activity] };

const withCode = (code: string) => expect.objectContaining({ code });

describe('records of the log', () => {
  it('of blocks are decoded as they were encoded', () => {
    fc.assert(
      fc.property(blocksRecord, (record) => {
        for (const packing of ['each', 'together'] as const) {
          const decoded = decodeBlocksRecord(encodeBlocksRecord(record, packing));
          const plain = decoded.kind === 'block' ? { ...decoded, block: new Uint8Array(decoded.block) } : decoded;
          expect(plain).toStrictEqual(record);
        }
      }),
    );
  });

  it('of facts are decoded as they were encoded, including amounts of 10^18 and the limits of int64', () => {
    fc.assert(
      fc.property(factsRecord, (record) => {
        for (const packing of ['each', 'together'] as const) {
          expect(decodeFactsRecord(encodeFactsRecord(record, packing))).toStrictEqual(record);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('contain every published kind of fact and no other', () => {
    const notPublished = { ...facts, facts: [{ ...activity, type: 'spend' }] } as unknown as FactsAppended;
    expect(() => encodeFactsRecord(notPublished)).toThrow(withCode('log_record_invalid'));
    for (const type of PUBLISHED_FACTS) {
      const incomplete = { ...facts, facts: [{ type }] } as unknown as FactsAppended;
      expect(() => encodeFactsRecord(incomplete)).toThrow(/does not fit the Avro schema FactList/);
    }
  });

  it('refuse an amount beyond int64 instead of wrapping it', () => {
    const record = { ...facts, facts: [{ ...activity, received: 2n ** 63n }] };
    expect(() => encodeFactsRecord(record)).toThrow(withCode('log_record_invalid'));
  });

  it('refuse an amount that is not a bigint', () => {
    const record = { ...facts, facts: [{ ...activity, received: 1 }] } as unknown as FactsAppended;
    expect(() => encodeFactsRecord(record)).toThrow(withCode('log_record_invalid'));
  });
});

describe('single-object encoding', () => {
  it('computes the fingerprints of the Avro specification', () => {
    expect(crc64Avro('"null"').readBigUInt64LE()).toBe(0x63dd24e7cc258f8an);
    expect(crc64Avro('"int"').readBigUInt64LE()).toBe(0x7275d51a3f395c8fn);
    expect(crc64Avro('"string"').readBigUInt64LE()).toBe(0x8f014872634503c7n);
  });

  it('begins with C3 01 and the fingerprint', () => {
    const header = Buffer.from(encodeBlocksRecord(block)).toString('hex', 0, 10);
    expect(header).toBe(`c301${schemaFingerprint('BlockAppended')}`);
  });

  it('keeps the fingerprints of records in existing logs: a changed schema is a new file', () => {
    const names = ['BlockAppended', 'ChainRewound', 'FactsAppended', 'FactsRewound', 'FactList', 'FactList2'] as const;
    expect(Object.fromEntries(names.map((name) => [name, schemaFingerprint(name)]))).toMatchInlineSnapshot(`
      {
        "BlockAppended": "c40faf96f3a07ed9",
        "ChainRewound": "6f574e42a0cd847c",
        "FactList": "acfa0b3c555e889e",
        "FactList2": "7e09ff8b6dcd3b1b",
        "FactsAppended": "14505681e0c0428f",
        "FactsRewound": "015c65f7db43faf4",
      }
    `);
  });

  it('names an unknown fingerprint', () => {
    const bytes = Buffer.from(encodeBlocksRecord(block));
    bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5);
    expect(() => decodeBlocksRecord(bytes)).toThrow(withCode('log_schema_unknown'));
    expect(() => decodeBlocksRecord(bytes)).toThrow(/fingerprint [0-9a-f]{16}/);
  });

  it('refuses bytes that are not a record', () => {
    for (const bytes of [Buffer.alloc(0), Buffer.from('{"a":1}'), Buffer.from('c301', 'hex')]) {
      expect(() => decodeBlocksRecord(bytes)).toThrow(withCode('log_schema_unknown'));
    }
  });

  it('refuses a record that is truncated or has trailing bytes', () => {
    const bytes = encodeBlocksRecord(block);
    for (const wrong of [bytes.subarray(0, -1), bytes.subarray(0, 12), Buffer.concat([bytes, Buffer.from([0])])]) {
      expect(() => decodeBlocksRecord(wrong)).toThrow(withCode('log_record_unreadable'));
    }
  });

  it('refuses a record of another topic', () => {
    expect(() => decodeFactsRecord(encodeBlocksRecord(block))).toThrow(/BlockAppended stands in topic facts/);
    expect(() => decodeBlocksRecord(encodeFactsRecord(facts))).toThrow(/FactsAppended stands in topic blocks/);
  });
});

describe('packed content', () => {
  it('unpacks a verbose block of 64 MiB whose hex repeats at a great distance', () => {
    const hex = randomBytes(1024 * 1024).toString('hex');
    const large = Buffer.from(hex.repeat(32));
    expect(large.length).toBe(64 * 1024 * 1024);
    const { packed, unpackedBytes } = pack(large);
    expect(packed.length).toBeLessThan(2 * 1024 * 1024);
    expect(unpack(packed, unpackedBytes).equals(large)).toBe(true);
  });

  it('may be empty', () => {
    expect(unpack(pack(Buffer.alloc(0)).packed, 0)).toHaveLength(0);
  });

  it('stops a decompression bomb at the size that the record names, and at the limit', () => {
    const bomb = { encoding: 'zstd', block: zstdCompressSync(Buffer.alloc(MAX_UNPACKED_BYTES + 1)) };
    expect(bomb.block.length).toBeLessThan(32 * 1024);
    const lying = encodeSingleObject('BlockAppended', { ...block, ...bomb, unpackedBytes: 100 });
    expect(() => decodeBlocksRecord(lying)).toThrow(withCode('log_record_unreadable'));
    const honest = encodeSingleObject('BlockAppended', { ...block, ...bomb, unpackedBytes: MAX_UNPACKED_BYTES + 1 });
    expect(() => decodeBlocksRecord(honest)).toThrow(withCode('log_record_too_large'));
  });

  it.each([1, 3_000, 32 * 1024, 32 * 1024 + 1, 1024 * 1024 + 1])('of %d bytes unpacks, also by plain zstd', (size) => {
    const content = Buffer.from(JSON.stringify(Array.from({ length: size }, (_, n) => (n * 7919) % 1013))).subarray(
      0,
      size,
    );
    const { packed, unpackedBytes } = pack(content);
    expect(unpack(packed, unpackedBytes).equals(content)).toBe(true);
    expect(zstdDecompressSync(packed).equals(content)).toBe(true);
  });

  it('unpacks frames of earlier versions, packed with a table of the usual size', () => {
    const content = Buffer.from('{"height": 17}'.repeat(700));
    const params = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 };
    expect(unpack(zstdCompressSync(content, { params }), content.length).equals(content)).toBe(true);
  });

  it.each([0, 1, 3_000, 64 * 1024])('of %d bytes that the log compresses is a plain zstd frame', (size) => {
    const content = randomBytes(size);
    const { packed, unpackedBytes } = pack(content, 'together');
    expect(packed.length - size).toBe(12);
    expect(zstdDecompressSync(packed).equals(content)).toBe(true);
    expect(unpack(packed, unpackedBytes).equals(content)).toBe(true);
    expect(() => unpack(packed, size + 1)).toThrow(withCode('log_record_unreadable'));
    if (size > 0) expect(() => unpack(packed.subarray(0, -1), size)).toThrow(withCode('log_record_unreadable'));
  });

  it('is compressed all the same when it is large', () => {
    const content = Buffer.alloc(64 * 1024 + 1, '{"txid":"00"}');
    const { packed, unpackedBytes } = pack(content, 'together');
    expect(packed.length).toBeLessThan(1_000);
    expect(unpack(packed, unpackedBytes).equals(content)).toBe(true);
  });

  it('is not packed above the limit', () => {
    const record = { ...block, block: Buffer.alloc(MAX_UNPACKED_BYTES + 1) };
    expect(() => encodeBlocksRecord(record)).toThrow(withCode('log_record_too_large'));
  });

  it('detects any flipped bit and any truncation', () => {
    const content = Buffer.from('{"hash":"00"}'.repeat(20));
    const { packed } = pack(content);
    const contentOf = (damaged: Buffer): Buffer | null => {
      try {
        return unpack(damaged, content.length);
      } catch (error) {
        expect(error).toMatchObject({ code: 'log_record_unreadable' });
        return null;
      }
    };
    for (let bit = 0; bit < packed.length * 8; bit += 1) {
      const flipped = Buffer.from(packed);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(contentOf(flipped) ?? content).toEqual(content);
    }
    for (let length = 0; length < packed.length - 4; length += 1)
      expect(contentOf(packed.subarray(0, length))).toBeNull();
  });
});
