/**
 * Port of the log: partitions (topic, chain) of ordered records. infra/event-log/{embedded,kafka} implement it.
 * Every call may also throw errors of the storage: LogUnreachable, LogStorage…, LogCorrupt, and LogClosed after `close`.
 */
import type { Packing } from '../../schemas/avro/compression.ts';
import type { Topic } from '../../schemas/log-records.ts';

export interface LogRecord {
  /** 0, 1, 2 … without gaps within a partition. */
  readonly position: number;
  readonly payload: Uint8Array;
}

export interface ReadLimits {
  readonly maxRecords: number;
  /** Soft limit: at least one record is returned, whatever its size. */
  readonly maxBytes: number;
}

export interface EventLog {
  /**
   * Opens the only writer of a partition; an older writer is fenced from now on.
   * @throws LogWriterFenced (embedded: another process holds the data folder)
   */
  openWriter(topic: Topic, chain: string): Promise<LogWriter>;
  /** Returns the newest record, or null for an empty partition. */
  last(topic: Topic, chain: string): Promise<LogRecord | null>;
  /**
   * Returns records from `position` on, in order, without gaps or duplicates; empty at the end.
   * @throws LogGap when a position is missing, LogCorrupt when stored bytes do not match their checksum
   */
  read(topic: Topic, chain: string, position: number, limits: ReadLimits): Promise<readonly LogRecord[]>;
  /** Resolves when the partition may contain `position`, after `timeoutMs`, or when `signal` aborts; never rejects. */
  waitFor(topic: Topic, chain: string, position: number, timeoutMs: number, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface LogWriter {
  /** Position of the next record. */
  readonly next: number;
  /** How callers must pack the contents of records for this writer. */
  readonly packing: Packing;
  /**
   * Appends all records or none. Skips records below `next` that equal the stored bytes (a retried append). After a RetryableError the
   * outcome may be unknown: append the same records again, or open a new writer and continue from its `next`. Readers see the records
   * once the promise resolves.
   * @throws LogGap if records[0].position > next, LogConflict if a stored record differs, LogWriterFenced, LogRecordTooLarge
   */
  append(records: readonly LogRecord[]): Promise<void>;
  close(): Promise<void>;
}
