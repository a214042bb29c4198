/** Reads and appends of one partition: the records in an SQLite file, each with its checksum. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { recordChecksum } from '../checksum.ts';
import type { LogRecord, ReadLimits } from '../event-log.ts';
import { LogCorrupt, LogGap } from '../log-errors.ts';
import { checkAppend, checkHeld } from '../partition.ts';
import { type AcknowledgedMark, openAcknowledgedMark } from './acknowledged.ts';
import { createLogFile, openLogFileForReading, openLogFileForWriting } from './log-file.ts';
import { REPAIR_ADVICE, withStorageErrors } from './storage-errors.ts';

export interface PartitionFile {
  /** Position after the newest record. */
  next(): number;
  last(): LogRecord | null;
  read(position: number, limits: ReadLimits): LogRecord[];
  /** Under the folder's lock: checks the file, makes it when there is none, and opens it for appends. */
  openForWriting(): void;
  append(records: readonly LogRecord[]): void;
  close(): void;
}

/** `partition` is its name in messages. Nothing is opened yet. */
export function createPartitionFile(file: string, partition: string): PartitionFile {
  let database: DatabaseSync | null = null;
  let mark: AcknowledgedMark | null = null;
  /** By text, prepared once for as long as the file is open. */
  const statements = new Map<string, StatementSync>();

  function prepared(sql: string): StatementSync | null {
    const statement = statements.get(sql) ?? opened()?.prepare(sql) ?? null;
    if (statement) statements.set(sql, statement);
    return statement;
  }

  function opened(): DatabaseSync | null {
    database ??= openLogFileForReading(file);
    return database;
  }

  function checked({ position, checksum, payload }: Record<string, unknown>): LogRecord {
    // A file that was cut inside a page reads as zeros: then even the types are wrong.
    const isRecord = typeof position === 'number' && payload instanceof Uint8Array;
    if (isRecord && recordChecksum(position, payload) === checksum) return { position, payload };
    throw new LogCorrupt(`record ${position} of ${partition} in ${file} does not match its checksum. ${REPAIR_ADVICE}`);
  }

  function last(): LogRecord | null {
    const row = prepared('SELECT * FROM record ORDER BY position DESC LIMIT 1')?.get();
    return row ? checked(row) : null;
  }

  function next(): number {
    const row = prepared('SELECT max(position) AS position FROM record')?.get();
    return typeof row?.position === 'number' ? row.position + 1 : 0;
  }

  function read(position: number, { maxRecords, maxBytes }: ReadLimits): LogRecord[] {
    const rows = opened()?.prepare('SELECT * FROM record WHERE position >= ? ORDER BY position LIMIT ?');
    const records: LogRecord[] = [];
    let bytes = 0;
    for (const row of rows?.iterate(position, maxRecords) ?? []) {
      const record = checked(row);
      const expected = position + records.length;
      if (record.position !== expected) {
        throw new LogGap(
          `record ${expected} of ${partition} is missing in ${file}; the next one is ${record.position}. ${REPAIR_ADVICE}`,
        );
      }
      bytes += record.payload.byteLength;
      if (records.length > 0 && bytes > maxBytes) break;
      records.push(record);
    }
    return records;
  }

  function openForWriting(): void {
    if (mark) return;
    createLogFile(file);
    closeDatabase();
    database = openLogFileForReading(file);
    const newest = last();
    const held = newest ? newest.position + 1 : 0;
    mark = openAcknowledgedMark(`${file}.acknowledged`);
    try {
      const acknowledged = mark.read();
      if (acknowledged > held) throw acknowledgedLost(held, acknowledged, partition, file);
      closeDatabase();
      database = openLogFileForWriting(file);
      mark.write(held);
    } catch (error) {
      closeAll(); // the next try opens it from the beginning
      throw error;
    }
  }

  function append(records: readonly LogRecord[]): void {
    const writable = opened();
    const from = next();
    checkAppend(partition, records, from);
    if (!writable || records.length === 0) return;
    const heldRecord = writable.prepare('SELECT * FROM record WHERE position = ?');
    inTransaction(writable, () => {
      // node:sqlite binds an empty array as NULL.
      const insert = writable.prepare(
        "INSERT INTO record (position, checksum, payload) VALUES (?, ?, coalesce(?, x''))",
      );
      for (const record of records) {
        const { position, payload } = record;
        const held = position < from ? heldRecord.get(position) : undefined;
        if (position >= from) insert.run(position, recordChecksum(position, payload), payload);
        else checkHeld(partition, record, held && checked(held));
      }
    });
    mark?.write(next());
  }

  function closeDatabase(): void {
    database?.close();
    database = null;
    statements.clear();
  }

  function closeAll(): void {
    closeDatabase();
    mark?.close();
    mark = null;
  }

  return {
    next: () => withStorageErrors(file, `${partition}: last position`, next),
    last: () => withStorageErrors(file, `${partition}: last record`, last),
    read: (position, limits) => withStorageErrors(file, `${partition} from ${position}`, () => read(position, limits)),
    openForWriting: () => withStorageErrors(file, `${partition}: open`, openForWriting),
    append: (records) => withStorageErrors(file, `${partition}: append`, () => append(records)),
    close: () => withStorageErrors(file, `${partition}: close`, closeAll),
  };
}

function acknowledgedLost(held: number, acknowledged: number, partition: string, file: string): LogCorrupt {
  const lost = `records ${held} to ${acknowledged - 1} of ${partition} were acknowledged but are not in ${file}`;
  return new LogCorrupt(`${lost} (its end or its -wal file was cut, damaged or replaced). ${REPAIR_ADVICE}`);
}

function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    // A full disk may have rolled it back already.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
