/**
 * Port of the log: partitions (topic, chain) of records in order. infra/event-log/{embedded,kafka} implement it.
 * Every call may also throw what its storage does: LogUnreachable, LogStorage…, LogCorrupt; LogClosed after `close`.
 */
import type { Packing } from '../../schemas/avro/compression.ts';
import type { Topic } from '../../schemas/log-records.ts';

export interface LogRecord {
  /** 0, 1, 2 … without a gap in its partition. */
  readonly position: number;
  readonly payload: Uint8Array;
}

export interface ReadLimits {
  readonly maxRecords: number;
  /** Soft: at least one record is returned whatever its size. */
  readonly maxBytes: number;
}

export interface EventLog {
  /**
   * Becomes the only writer of a partition; an older writer is fenced from now on.
   * @throws LogWriterFenced (embedded: another process holds the data folder)
   */
  openWriter(topic: Topic, chain: string): Promise<LogWriter>;
  /** The newest record, or null in an empty partition. */
  last(topic: Topic, chain: string): Promise<LogRecord | null>;
  /**
   * Records from `position` on, in order, without gap or repetition; empty at the end.
   * @throws LogGap when a position is missing, LogCorrupt when stored bytes do not match their checksum
   */
  read(topic: Topic, chain: string, position: number, limits: ReadLimits): Promise<readonly LogRecord[]>;
  /** Resolves once the partition may hold `position`, or after `timeoutMs`, or when `signal` aborts; never rejects. */
  waitFor(topic: Topic, chain: string, position: number, timeoutMs: number, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface LogWriter {
  /** Position that the next record gets. */
  readonly next: number;
  /** How the contents of records are to be given to it. */
  readonly packing: Packing;
  /**
   * Appends all or nothing. Records below `next` are skipped when they are byte-equal to what is held (a retried append).
   * After a RetryableError the outcome may be unknown: append the same records again, or open a new writer and go on from
   * its `next`. Once it resolves, readers see the records.
   * @throws LogGap when records[0].position > next, LogConflict when a held record differs, LogWriterFenced, LogRecordTooLarge
   */
  append(records: readonly LogRecord[]): Promise<void>;
  close(): Promise<void>;
}
