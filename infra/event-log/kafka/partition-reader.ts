/** Reads one partition on Kafka by position; Kafka offsets stay internal. */
import { LRUCache } from 'lru-cache';
import type { LogRecord, ReadLimits } from '../event-log.ts';
import { LogGap, LogUnreachable } from '../log-errors.ts';
import { createOffsetIndex } from './offset-index.ts';
import type { Fetched, PartitionFetcher } from './partition-fetcher.ts';
import type { StoredRecord } from './record-message.ts';

export interface Tail {
  /** The newest record; null for an empty partition. */
  readonly last: StoredRecord | null;
  /** Writer of the newest message, which is a record or a WriterOpened. */
  readonly writer: string | null;
  /** Offset after everything that was read. */
  readonly end: number;
}

export interface PartitionReader {
  /** Returns null if the topic does not exist. @throws LogGap if every record has expired */
  tail(): Promise<Tail | null>;
  read(position: number, limits: ReadLimits): Promise<LogRecord[]>;
}

/** Records from some position on, and the offset after them. */
interface Chunk {
  readonly records: readonly StoredRecord[];
  readonly next: number;
  readonly atEnd: boolean;
}

const FETCH_BYTES = 2 * 1024 * 1024;
const PROBE_BYTES = 64 * 1024;
const FIRST_TAIL_OFFSETS = 8;
/** Fetched but unreturned records are kept for the next read, for this many concurrent readers. */
const KEPT_CHUNKS = 5;
const EMPTY: Chunk = { records: [], next: 0, atEnd: true };

/** `partition` is the name of the partition in messages. */
export function createPartitionReader(fetcher: PartitionFetcher, partition: string): PartitionReader {
  const index = createOffsetIndex();
  const kept = new LRUCache<number, Chunk>({ max: KEPT_CHUNKS });

  /** Returns the first records at or after `offset`; empty only at the end. */
  async function chunkFrom(offset: number, maxBytes: number): Promise<Chunk> {
    let from = offset;
    for (;;) {
      const fetched = await fetcher.fetch(from, { maxBytes, waitMs: 0 });
      if (fetched === null) return EMPTY;
      const records = recordsOf(fetched);
      const { next, atEnd } = fetched;
      if (records.length > 0 || atEnd) return { records, next, atEnd };
      from = next;
    }
  }

  /** Returns a chunk that begins at or before `position`, unless the log begins after it or ends before it. */
  async function locate(position: number): Promise<Chunk> {
    let offset = index.lowerBound(position);
    for (;;) {
      const chunk = await chunkFrom(offset, PROBE_BYTES);
      const [first] = chunk.records;
      const newest = chunk.records.at(-1);
      if (!first || !newest || newest.position >= position) return chunk;
      index.remember(newest.position, newest.offset);
      if (chunk.atEnd) return EMPTY;
      offset = Math.max(chunk.next, newest.offset + position - newest.position);
    }
  }

  async function read(position: number, { maxRecords, maxBytes }: ReadLimits): Promise<LogRecord[]> {
    const found: LogRecord[] = [];
    let bytes = 0;
    let chunk = kept.get(position) ?? (await locate(position));
    kept.delete(position);
    for (;;) {
      for (const [i, record] of chunk.records.entries()) {
        const expected = position + found.length;
        if (record.position < expected) continue;
        if (record.position > expected) throw gap(expected, record.position);
        bytes += record.payload.byteLength;
        if (found.length > 0 && (found.length >= maxRecords || bytes > maxBytes)) {
          kept.set(expected, { ...chunk, records: chunk.records.slice(i) });
          return found;
        }
        found.push({ position: record.position, payload: record.payload });
      }
      const newest = chunk.records.at(-1);
      if (newest) index.remember(newest.position, newest.offset);
      if (chunk.atEnd || found.length >= maxRecords || bytes >= maxBytes) return found;
      chunk = await chunkFrom(chunk.next, FETCH_BYTES);
    }
  }

  async function tail(): Promise<Tail | null> {
    const ends = await fetcher.ends();
    if (ends === null) return null;
    const { start, end } = ends;
    for (let span = FIRST_TAIL_OFFSETS; ; span *= 8) {
      const from = Math.max(start, end - span);
      const { last, writer } = await newestFrom(from, end);
      if (last) index.remember(last.position, last.offset);
      if (last || from === 0) return { last, writer, end };
      if (from === start) throw expired();
    }
  }

  async function newestFrom(from: number, end: number): Promise<Omit<Tail, 'end'>> {
    let last: StoredRecord | null = null;
    let writer: string | null = null;
    for (let offset = from; offset < end; ) {
      const fetched = await fetcher.fetch(offset, { maxBytes: FETCH_BYTES, waitMs: 0 });
      if (fetched === null) throw new LogUnreachable(`the topic of ${partition} existed and is gone: was it deleted?`);
      last = recordsOf(fetched).at(-1) ?? last;
      writer = fetched.messages.at(-1)?.writer ?? writer;
      if (fetched.atEnd) break;
      offset = fetched.next;
    }
    return { last, writer };
  }

  function gap(expected: number, found: number): LogGap {
    const advice = 'Older records have expired or were deleted: rebuild the stores that read them from the blocks.';
    return new LogGap(`record ${expected} of ${partition} is missing, the next one is ${found}. ${advice}`);
  }

  function expired(): LogGap {
    const advice = 'Their positions are lost: delete the topic, and it is rebuilt from the blocks.';
    return new LogGap(`every record of ${partition} has expired or was deleted. ${advice}`);
  }

  return { read, tail };
}

function recordsOf({ messages }: Fetched): StoredRecord[] {
  return messages.filter((message): message is StoredRecord => message.position !== null);
}
