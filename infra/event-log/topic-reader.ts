/**
 * Reads the topics `facts` and `stamps` for all readers in this process: the first reader of a record decodes it, and the others get the
 * same value. Each reader decides up to where records are committed: it compares the `source` of a facts record with derive's position, or
 * the `position` of a stamps record with the published one. A writer in this process hands over the records that it has just appended, so
 * that no reader decodes them. docs/decisions/0052-one-decoder-of-topics.md
 */
import { LRUCache } from 'lru-cache';
import { decodeFactsRecord, decodeStampsRecord } from '../../schemas/log-codec.ts';
import type { FactsRecord, StampsRecord } from '../../schemas/log-records.ts';
import { heapBytes } from '../heap-bytes.ts';
import type { EventLog, LogRecord, ReadLimits } from './event-log.ts';
import { createHanded } from './handed.ts';

export interface TopicRecords {
  readonly facts: FactsRecord;
  readonly stamps: StampsRecord;
}

export type DecodedTopic = keyof TopicRecords;

export interface TopicEntry<T extends DecodedTopic> {
  readonly position: number;
  /** Bytes of the payload. */
  readonly bytes: number;
  /**
   * Decodes the record unless another reader has already done so. The value is shared, so callers must not change it.
   * @throws PermanentError log_schema_unknown, log_record_unreadable, log_record_too_large
   */
  record(): TopicRecords[T];
}

/** Like the log: in order, without gaps or duplicates, committed or not. Every call may throw what the same call of the log throws. */
export interface TopicReader {
  last<T extends DecodedTopic>(topic: T, chain: string): Promise<TopicEntry<T> | null>;
  read<T extends DecodedTopic>(
    topic: T,
    chain: string,
    position: number,
    limits: ReadLimits,
  ): Promise<readonly TopicEntry<T>[]>;
  waitFor: EventLog['waitFor'];
  /**
   * Hands over a record that the log now contains at its position, exactly as decoding it would return it, so that its next reader need
   * not decode it. It is kept if there is room, until it is read or a read of its partition begins after it.
   */
  hold<T extends DecodedTopic>(topic: T, chain: string, record: TopicRecords[T]): void;
}

/** Batch size of a reader that follows a topic. */
export const READ_LIMITS: ReadLimits = { maxRecords: 200, maxBytes: 4 * 1024 * 1024 };
/** Cache size in bytes for decoded records of each topic. A facts record covers a block; a stamps record covers some of its rows. */
const MEMORY = { facts: 24 * 1024 * 1024, stamps: 8 * 1024 * 1024 };
/** Bytes for records that were handed over but not read yet: one batch that derive writes and one that price reads. */
const HANDED = { facts: 64 * 1024 * 1024, stamps: 0 };
/** Overhead of the cache for each record, in bytes. */
const ENTRY_BYTES = 256;

interface Entries<T extends DecodedTopic> {
  entry(chain: string, raw: LogRecord): TopicEntry<T>;
  hold(chain: string, record: TopicRecords[T]): void;
  /** A reader that reads from `position` no longer needs the records before it. */
  readFrom(chain: string, position: number): void;
}
type AllEntries = { readonly [T in DecodedTopic]: Entries<T> };

/** Create one per log and process. A record larger than its topic's cache is decoded by every reader. */
export function createTopicReader(
  log: Pick<EventLog, 'last' | 'read' | 'waitFor'>,
  memory: Readonly<Record<DecodedTopic, number>> = MEMORY,
  handed: Readonly<Record<DecodedTopic, number>> = HANDED,
): TopicReader {
  const entriesOf: AllEntries = {
    facts: createEntries<'facts'>(decodeFactsRecord, memory.facts, handed.facts),
    stamps: createEntries<'stamps'>(decodeStampsRecord, memory.stamps, handed.stamps),
  };
  return {
    async last(topic, chain) {
      const newest = await log.last(topic, chain);
      return newest && entriesOf[topic].entry(chain, newest);
    },
    async read(topic, chain, position, limits) {
      const entries = entriesOf[topic];
      const raw = await log.read(topic, chain, position, limits);
      entries.readFrom(chain, position);
      return raw.map((each) => entries.entry(chain, each));
    },
    waitFor: (...asked) => log.waitFor(...asked),
    hold: (topic, chain, record) => entriesOf[topic].hold(chain, record),
  };
}

function createEntries<T extends DecodedTopic>(
  decode: (payload: Uint8Array) => TopicRecords[T],
  maxSize: number,
  maxHanded: number,
): Entries<T> {
  const decoded = new LRUCache<string, TopicRecords[T]>({
    maxSize,
    sizeCalculation: sizeOf,
  });
  const handed = createHanded<TopicRecords[T]>(maxHanded);
  return {
    entry: (chain, { position, payload }) => ({
      position,
      bytes: payload.byteLength,
      record() {
        const key = `${chain} ${position}`;
        const known = decoded.get(key);
        if (known) return known;
        const given = handed.take(chain, position);
        const record = given?.record ?? decode(payload);
        decoded.set(key, record, given && { size: given.size });
        return record;
      },
    }),
    hold: (chain, record) => handed.hold(chain, record.position, { record, size: sizeOf(record) }),
    readFrom: (chain, position) => handed.leaveBehind(chain, position),
  };
}

const sizeOf = (record: object): number => ENTRY_BYTES + heapBytes(record);
