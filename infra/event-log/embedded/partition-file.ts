/** Reads and appends of one partition in an SQLite file. The file is opened on first use; writing needs the lock of the folder. */
import type { DatabaseSync } from 'node:sqlite';
import type { LogRecord, ReadLimits } from '../event-log.ts';
import { LogCorrupt } from '../log-errors.ts';
import { checkAppend, checkHeld } from '../partition.ts';
import { type AcknowledgedMark, openAcknowledgedMark } from './acknowledged.ts';
import { createLogFile, openLogFileForReading, openLogFileForWriting } from './log-file.ts';
import { createLogRows, type LogRows, type PackedGroup } from './log-rows.ts';
import { groupsOf, packGroup } from './record-group.ts';
import { REPAIR_ADVICE, withStorageErrors } from './storage-errors.ts';

export interface PartitionFile {
  /** Returns the position after the newest record. */
  next(): number;
  last(): LogRecord | null;
  read(position: number, limits: ReadLimits): LogRecord[];
  /** Checks the file, creates it if there is none, and opens it for appends. The caller holds the lock of the folder. */
  openForWriting(): void;
  /** Checks the records to append and packs those that are not stored yet, one row at a time, so that the caller can yield in between. */
  pack(records: readonly LogRecord[]): Iterable<PackedGroup>;
  /** Appends `records`; `groups` is what `pack` returned for them. */
  append(records: readonly LogRecord[], groups: readonly PackedGroup[]): void;
  close(): void;
}

/** `partition` is the name of the partition in messages. Opens nothing yet. */
export function createPartitionFile(file: string, partition: string): PartitionFile {
  let database: DatabaseSync | null = null;
  let held: LogRows | null = null;
  let mark: AcknowledgedMark | null = null;
  /** Position after the newest record, if this is the writer and knows it. */
  let end: number | null = null;

  function use(opened: DatabaseSync | null): void {
    database = opened;
    held = opened && createLogRows(opened, file, partition);
  }

  function rows(): LogRows | null {
    if (!held) use(openLogFileForReading(file));
    return held;
  }

  function endOfNewest(): number {
    const newest = rows()?.last() ?? null;
    return newest ? newest.position + 1 : 0;
  }

  /** A writer verifies the checksum of the newest row, because a damaged record count could make it write into an existing group. */
  const next = (): number => end ?? (mark ? endOfNewest() : (rows()?.end() ?? 0));

  function openForWriting(): void {
    if (mark) return;
    createLogFile(file);
    closeDatabase();
    const records = endOfNewest();
    mark = openAcknowledgedMark(`${file}.acknowledged`);
    try {
      const acknowledged = mark.read();
      if (acknowledged > records) throw acknowledgedLost(records, acknowledged, partition, file);
      closeDatabase();
      use(openLogFileForWriting(file));
      end = records;
      mark.write(records);
    } catch (error) {
      closeAll(); // the next attempt starts over
      throw error;
    }
  }

  function freshOf(records: readonly LogRecord[]): readonly LogRecord[] {
    const from = next();
    checkAppend(partition, records, from);
    const again = records.filter(({ position }) => position < from);
    const before = rows()?.read(records[0]?.position ?? from, { maxRecords: again.length, maxBytes: Infinity });
    for (const [index, record] of again.entries()) checkHeld(partition, record, before?.[index]);
    return records.slice(again.length);
  }

  function* pack(records: readonly LogRecord[]): Generator<PackedGroup, void> {
    const fresh = withStorageErrors(file, `${partition}: append`, () => freshOf(records));
    for (const group of groupsOf(fresh)) yield { position: group.position, row: packGroup(group.records) };
  }

  function append(records: readonly LogRecord[], groups: readonly PackedGroup[]): void {
    const newest = records.at(-1);
    if (!newest || groups.length === 0) return;
    // A commit that fails may still have happened; the position is then read from the file.
    end = null;
    rows()?.insert(groups);
    end = newest.position + 1;
    mark?.write(end);
  }

  function closeDatabase(): void {
    database?.close();
    use(null);
    end = null;
  }

  function closeAll(): void {
    closeDatabase();
    mark?.close();
    mark = null;
  }

  return {
    next: () => withStorageErrors(file, `${partition}: last position`, next),
    last: () => withStorageErrors(file, `${partition}: last record`, () => rows()?.last() ?? null),
    read: (position, limits) =>
      withStorageErrors(file, `${partition} from ${position}`, () => rows()?.read(position, limits) ?? []),
    openForWriting: () => withStorageErrors(file, `${partition}: open`, openForWriting),
    pack,
    append: (records, groups) => withStorageErrors(file, `${partition}: append`, () => append(records, groups)),
    close: () => withStorageErrors(file, `${partition}: close`, closeAll),
  };
}

function acknowledgedLost(held: number, acknowledged: number, partition: string, file: string): LogCorrupt {
  const lost = `records ${held} to ${acknowledged - 1} of ${partition} were acknowledged but are not in ${file}`;
  return new LogCorrupt(`${lost} (its end or its -wal file was cut, damaged or replaced). ${REPAIR_ADVICE}`);
}
