/** The rows of an open log file as records. A row is a group of records or, in the earlier layout, one record; its checksum tells which. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { recordChecksum } from '../checksum.ts';
import type { LogRecord, ReadLimits } from '../event-log.ts';
import { LogCorrupt, LogGap } from '../log-errors.ts';
import { GROUP_HEAD_BYTES, recordsInGroup, unpackGroup } from './record-group.ts';
import { REPAIR_ADVICE } from './storage-errors.ts';

export interface LogRows {
  /** Returns the position after the newest record. */
  end(): number;
  /** @throws LogCorrupt */
  last(): LogRecord | null;
  /** @throws LogCorrupt, LogGap */
  read(position: number, limits: ReadLimits): LogRecord[];
  /** Inserts all groups or none; they must follow the newest row. */
  insert(groups: readonly PackedGroup[]): void;
}

export interface PackedGroup {
  /** Position of the first record. */
  readonly position: number;
  readonly row: Uint8Array;
}

/** The checksum of a group is this minus its CRC-32: it exceeds every CRC-32, and no single flipped bit turns a group into a record. */
const GROUP = 2 ** 33 - 1;
const isOfGroup = (checksum: unknown) => Number(checksum) >= 2 ** 32;

// node:sqlite throws for a damaged number beyond 2^53 and leaves the statement open.
const CHECKSUM = `CASE WHEN checksum BETWEEN 0 AND ${GROUP} THEN checksum END AS checksum`;
const NEWEST = `SELECT position, ${CHECKSUM}, payload FROM record ORDER BY position DESC LIMIT 1`;
const END = `SELECT position, ${CHECKSUM}, substr(payload, 1, ${GROUP_HEAD_BYTES}) AS head FROM record ORDER BY position DESC LIMIT 1`;
const FROM = `SELECT position, ${CHECKSUM}, payload FROM record
  WHERE position >= coalesce((SELECT max(position) FROM record WHERE position <= ?), 0) ORDER BY position`;
const INSERT = 'INSERT INTO record (position, checksum, payload) VALUES (?, ?, ?)';

type Row = Record<string, unknown>;

/** `partition` is the name of the partition in messages. */
export function createLogRows(database: DatabaseSync, file: string, partition: string): LogRows {
  let endRow: StatementSync | null = null;

  function recordsOf(row: Row): LogRecord[] {
    const records = recordsIn(row);
    if (records) return records;
    const { position } = row;
    throw new LogCorrupt(`record ${position} of ${partition} in ${file} does not match its checksum. ${REPAIR_ADVICE}`);
  }

  function* recordsFrom(position: number): Generator<LogRecord, void> {
    for (const row of database.prepare(FROM).iterate(position)) yield* recordsOf(row);
  }

  return {
    end() {
      endRow ??= database.prepare(END);
      const { position, checksum, head } = endRow.get() ?? {};
      if (typeof position !== 'number') return 0;
      return position + (isOfGroup(checksum) && head instanceof Uint8Array ? recordsInGroup(head) : 1);
    },
    last() {
      const row = database.prepare(NEWEST).get();
      return (row && recordsOf(row).at(-1)) ?? null;
    },
    read(position, { maxRecords, maxBytes }) {
      const records: LogRecord[] = [];
      let bytes = 0;
      if (maxRecords < 1) return records;
      for (const record of recordsFrom(position)) {
        const expected = position + records.length;
        if (record.position < expected) continue;
        if (record.position > expected) {
          throw new LogGap(
            `record ${expected} of ${partition} is missing in ${file}; the next one is ${record.position}. ${REPAIR_ADVICE}`,
          );
        }
        bytes += record.payload.byteLength;
        if (records.length > 0 && bytes > maxBytes) break;
        records.push(record);
        if (records.length === maxRecords) break;
      }
      return records;
    },
    insert(groups) {
      inTransaction(database, () => {
        const insert = database.prepare(INSERT);
        for (const { position, row } of groups) insert.run(position, GROUP - recordChecksum(position, row), row);
      });
    },
  };
}

/** Returns null if the row is damaged. */
function recordsIn({ position, checksum, payload }: Row): LogRecord[] | null {
  // A file that was truncated inside a page reads as zeros, so even the types may be wrong.
  if (typeof position !== 'number' || !(payload instanceof Uint8Array)) return null;
  const found = recordChecksum(position, payload);
  if (!isOfGroup(checksum)) return checksum === found ? [{ position, payload }] : null;
  return checksum === GROUP - found ? unpackGroup(position, payload) : null;
}

function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    // A full disk may already have rolled the transaction back.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
