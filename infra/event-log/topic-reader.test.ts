import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeFactsRecord,
  decodeStampsRecord,
  encodeFactsRecord,
  encodeStampList,
  encodeStampsAppended,
} from '../../schemas/log-codec.ts';
import type { FactsRecord } from '../../schemas/log-records.ts';
import { factsRecord } from '../../test/support/schemas/avro/arbitrary-records.ts';
import { heapBytes } from '../heap-bytes.ts';
import type { EventLog, ReadLimits } from './event-log.ts';
import { LogGap } from './log-errors.ts';
import { createTopicReader, type DecodedTopic } from './topic-reader.ts';

const CHAINS = ['vrsc', 'vdex'] as const;
const ALL: ReadLimits = { maxRecords: 1000, maxBytes: 1 << 24 };
const DECODE = { facts: decodeFactsRecord, stamps: decodeStampsRecord };
const ENOUGH = { facts: 1 << 26, stamps: 1 << 26 };

/** An in-memory log whose partitions contain these facts and a stamps record for each of them. */
function logOf(records: readonly FactsRecord[]): Pick<EventLog, 'last' | 'read' | 'waitFor'> {
  const payloads = { facts: records.map((record) => encodeFactsRecord(record)), stamps: records.map(stampsPayload) };
  /** The chains have the records in opposite order, so that their records at a position differ. */
  const partition = (topic: string, chain: string): readonly Uint8Array[] => {
    const held = topic === 'facts' ? payloads.facts : payloads.stamps;
    return chain === CHAINS[0] ? held : held.toReversed();
  };
  return {
    async last(topic, chain) {
      const payload = partition(topic, chain).at(-1);
      return payload ? { position: records.length - 1, payload } : null;
    },
    async read(topic, chain, position, { maxRecords }) {
      if (position > records.length) throw new LogGap(`no record ${position}`);
      const read = partition(topic, chain).slice(position, position + maxRecords);
      return read.map((payload, index) => ({ position: position + index, payload }));
    },
    waitFor: async () => undefined,
  };
}

function stampsPayload({ hash, height }: FactsRecord, position: number): Uint8Array {
  const record = { position, source: position, height, hash, time: 0, provisional: false };
  return encodeStampsAppended(record, encodeStampList({ prices: [], stamps: [] }));
}

const reads = fc.array(
  fc.record({
    topic: fc.constantFrom<DecodedTopic>('facts', 'stamps'),
    chain: fc.constantFrom(...CHAINS),
    position: fc.nat({ max: 20 }),
    maxRecords: fc.integer({ min: 1, max: 8 }),
  }),
  { minLength: 1, maxLength: 30 },
);
const memories = fc.constantFrom(ENOUGH, { facts: 4096, stamps: 600 }, { facts: 1, stamps: 1 });

describe('the reader of topics', () => {
  it('returns what the log contains, in whatever order records are read and however little memory it has', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(factsRecord, { maxLength: 12 }), reads, memories, async (records, asked, memory) => {
        const log = logOf(records);
        const topics = createTopicReader(log, memory);
        for (const { topic, chain, position, maxRecords } of asked) {
          const limits = { ...ALL, maxRecords };
          const isGap = position > records.length;
          const expected = isGap ? [] : await log.read(topic, chain, position, limits);
          const entries = await topics.read(topic, chain, position, limits).catch((error: unknown) => {
            expect([error instanceof LogGap, isGap]).toEqual([true, true]);
            return [];
          });
          expect(entries.map((entry) => [entry.position, entry.bytes, entry.record()])).toStrictEqual(
            expected.map(({ position: at, payload }) => [at, payload.byteLength, DECODE[topic](payload)]),
          );
        }
      }),
    );
  });

  it('decodes a record once for all readers, even if they read concurrently', async () => {
    const records = fc.sample(factsRecord, { numRuns: 50, seed: 1 });
    const topics = createTopicReader(logOf(records), ENOUGH);
    for (const topic of ['facts', 'stamps'] as const) {
      for (const chain of CHAINS) {
        const [first, second] = await Promise.all([
          topics.read(topic, chain, 0, ALL),
          topics.read(topic, chain, 10, { ...ALL, maxRecords: 7 }),
        ]);
        expect(second).toHaveLength(7);
        for (const entry of second) expect(entry.record()).toBe(first[entry.position]?.record());
        const last = await topics.last(topic, chain);
        expect(last?.record()).toBe(first.at(-1)?.record());
      }
    }
  });

  it('decodes records lazily, so that readers can spread the work', async () => {
    const log = logOf([]);
    const topics = createTopicReader({
      ...log,
      read: async () => [{ position: 0, payload: Buffer.from('not a record') }],
    });
    const [entry] = await topics.read('facts', 'vrsc', 0, ALL);
    expect(() => entry?.record()).toThrow(expect.objectContaining({ code: 'log_schema_unknown' }));
  });

  it('returns what the log contains, whatever was handed over', async () => {
    const holds = fc.array(fc.record({ chain: fc.constantFrom(...CHAINS), position: fc.nat({ max: 11 }) }), {
      minLength: 30,
      maxLength: 30,
    });
    const rooms = fc.constantFrom(1 << 26, 3000, 1);
    const drawn = fc.array(factsRecord, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(drawn, holds, reads, rooms, async (records, held, asked, room) => {
        const log = logOf(records);
        const topics = createTopicReader(log, ENOUGH, { facts: room, stamps: 0 });
        const recordAt = async (chain: string, position: number): Promise<FactsRecord[]> => {
          const raw =
            position > records.length ? [] : await log.read('facts', chain, position, { ...ALL, maxRecords: 1 });
          return raw.map(({ payload }) => ({ ...decodeFactsRecord(payload), position }));
        };
        for (const [index, { chain, position, maxRecords }] of asked.entries()) {
          const given = held[index];
          if (given)
            for (const record of await recordAt(given.chain, given.position)) topics.hold('facts', given.chain, record);
          if (position > records.length) continue;
          for (const entry of await topics.read('facts', chain, position, { ...ALL, maxRecords })) {
            expect([{ ...entry.record(), position: entry.position }]).toStrictEqual(
              await recordAt(chain, entry.position),
            );
          }
        }
      }),
    );
  });

  it('decodes from the log what was handed over without room and what readers have passed', async () => {
    const records = fc
      .sample(factsRecord, { numRuns: 3, seed: 4 })
      .map((record, position) => ({ ...record, position }));
    const damaged = {
      ...logOf([]),
      read: async () => [0, 1, 2].map((position) => ({ position, payload: Buffer.from('x') })),
    };
    const held = async (room: number, from: number) => {
      const topics = createTopicReader(damaged, ENOUGH, { facts: room, stamps: 0 });
      for (const record of records) topics.hold('facts', 'vrsc', record);
      await topics.read('facts', 'vrsc', from, ALL);
      return (await topics.read('facts', 'vrsc', 0, ALL)).map((entry) => {
        try {
          return entry.record().position;
        } catch {
          return null;
        }
      });
    };
    // The log of this test cannot be decoded, so every returned record was handed over.
    expect(await held(1 << 26, 0)).toEqual([0, 1, 2]);
    expect(await held(1 << 26, 2)).toEqual([null, null, 2]);
    const room = heapBytes(records[0]) + 256;
    expect((await held(room, 0))[0]).toBe(0);
    expect(await held(room - 1, 0)).not.toContain(0);
  });

  it('evicts the least recently read records when they exceed its memory', async () => {
    const records = fc.sample(factsRecord, { numRuns: 200, seed: 2 });
    const topics = createTopicReader(logOf(records), { facts: 32 * 1024, stamps: 1 });
    const read = async () => (await topics.read('facts', 'vrsc', 0, ALL)).map((entry) => entry.record());
    const [first, again] = [await read(), await read()];
    expect(again).toStrictEqual(first);
    expect(again.some((record, index) => record === first[index])).toBe(false);
    const newest = await topics.last('facts', 'vrsc');
    expect(newest?.record()).toBe(again.at(-1));
  });
});
