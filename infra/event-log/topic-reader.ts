/**
 * Reads the topics of facts and stamps for everyone in this process who follows them: whoever wants a record first decodes it, and
 * the others get the same value. How far records count is up to each reader, which compares the record's mark with the commit that it
 * goes by: `source` of a facts record with derive's position, `position` of a stamps record with the published one.
 * docs/decisions/0052-one-decoder-of-topics.md
 */
import { LRUCache } from 'lru-cache';
import { decodeFactsRecord, decodeStampsRecord } from '../../schemas/log-codec.ts';
import type { FactsRecord, StampsRecord } from '../../schemas/log-records.ts';
import { heapBytes } from '../heap-bytes.ts';
import type { EventLog, LogRecord, ReadLimits } from './event-log.ts';

export interface TopicRecords {
  readonly facts: FactsRecord;
  readonly stamps: StampsRecord;
}

export type DecodedTopic = keyof TopicRecords;

export interface TopicEntry<T extends DecodedTopic> {
  readonly position: number;
  /** Bytes in the log. */
  readonly bytes: number;
  /**
   * Takes the time to decode it unless another reader has had it. It is shared, so no caller may change it.
   * @throws PermanentError log_schema_unknown, log_record_unreadable, log_record_too_large
   */
  record(): TopicRecords[T];
}

/** As the log: in order, without gap or repetition, committed or not. Every call may throw what that of the log throws. */
export interface TopicReader {
  last<T extends DecodedTopic>(topic: T, chain: string): Promise<TopicEntry<T> | null>;
  read<T extends DecodedTopic>(
    topic: T,
    chain: string,
    position: number,
    limits: ReadLimits,
  ): Promise<readonly TopicEntry<T>[]>;
  waitFor: EventLog['waitFor'];
}

/** Memory of the decoded records of each topic; a facts record is a block's, a stamps record some rows of it. */
const MEMORY = { facts: 24 * 1024 * 1024, stamps: 8 * 1024 * 1024 };
/** What the cache itself takes for a record. */
const ENTRY_BYTES = 256;

type Readers = { readonly [T in DecodedTopic]: (chain: string, raw: LogRecord) => TopicEntry<T> };

/** One for each log and process. A record larger than its topic's memory is decoded again by each of its readers. */
export function createTopicReader(
  log: Pick<EventLog, 'last' | 'read' | 'waitFor'>,
  memory: Readonly<Record<DecodedTopic, number>> = MEMORY,
): TopicReader {
  const entryOf: Readers = {
    facts: createEntries<'facts'>(decodeFactsRecord, memory.facts),
    stamps: createEntries<'stamps'>(decodeStampsRecord, memory.stamps),
  };
  return {
    async last(topic, chain) {
      const newest = await log.last(topic, chain);
      return newest && entryOf[topic](chain, newest);
    },
    async read(topic, chain, position, limits) {
      return (await log.read(topic, chain, position, limits)).map((raw) => entryOf[topic](chain, raw));
    },
    waitFor: (...asked) => log.waitFor(...asked),
  };
}

function createEntries<T extends DecodedTopic>(
  decode: (payload: Uint8Array) => TopicRecords[T],
  maxSize: number,
): (chain: string, raw: LogRecord) => TopicEntry<T> {
  const decoded = new LRUCache<string, TopicRecords[T]>({
    maxSize,
    sizeCalculation: (record) => ENTRY_BYTES + heapBytes(record),
  });
  return (chain, { position, payload }) => ({
    position,
    bytes: payload.byteLength,
    record() {
      const key = `${chain} ${position}`;
      let record = decoded.get(key);
      if (!record) {
        record = decode(payload);
        decoded.set(key, record);
      }
      return record;
    },
  });
}
