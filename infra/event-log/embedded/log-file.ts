/** One partition in one SQLite file, which is created atomically and checked before it is written to. */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LogCorrupt } from '../log-errors.ts';
import { REPAIR_ADVICE } from './storage-errors.ts';

/** "vrus": distinguishes a log file from any other SQLite file. */
const APPLICATION_ID = 0x76727573;
/** 1: each row is a record. 2: a row may also be a group of records (log-rows.ts). */
const LAYOUT_VERSION = 2;
const ONE_RECORD_A_ROW = 1;

/** Measured in docs/decisions/0001-embedded-log.md: small pages waste half of their space on records of 2 kB. */
const PAGE_BYTES = 16 * 1024;

const CREATE = `
  PRAGMA page_size = ${PAGE_BYTES};
  PRAGMA journal_mode = WAL;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${LAYOUT_VERSION};
  CREATE TABLE record (position INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, payload BLOB NOT NULL) STRICT;
`;

/** Creates an empty log file if there is none. Builds it under another name, so that a file of zero bytes is always a damaged one. */
export function createLogFile(file: string): void {
  if (existsSync(file)) return;
  const unfinished = `${file}.new`;
  for (const suffix of ['', '-wal', '-shm']) rmSync(unfinished + suffix, { force: true });
  const database = new DatabaseSync(unfinished);
  try {
    database.exec(CREATE);
  } finally {
    database.close();
  }
  flush(unfinished);
  renameSync(unfinished, file);
  flush(dirname(file));
}

/** Opens the file so that not even closing it changes the file. Returns null if there is no file. */
export function openLogFileForReading(file: string): DatabaseSync | null {
  if (!existsSync(file)) return null;
  if (statSync(file).size === 0) throw new LogCorrupt(`the log file ${file} is empty. ${REPAIR_ADVICE}`);
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    database.exec('PRAGMA busy_timeout = 1000');
    checkLayout(file, database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The caller has checked the file, because closing this connection merges the write-ahead log into it. Rows of the earlier layout stay. */
export function openLogFileForWriting(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  // FULL: a commit is on disk before it is acknowledged. The size limit frees the space of a huge record afterwards.
  database.exec(
    `PRAGMA busy_timeout = 1000; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${64 * 1024 * 1024}`,
  );
  try {
    // Earlier versions refuse the file from now on.
    if (layoutOf(database) === ONE_RECORD_A_ROW) database.exec(`PRAGMA user_version = ${LAYOUT_VERSION}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function layoutOf(database: DatabaseSync): unknown {
  return database.prepare('PRAGMA user_version').get()?.user_version;
}

function checkLayout(file: string, database: DatabaseSync): void {
  const id = database.prepare('PRAGMA application_id').get()?.application_id;
  if (id !== APPLICATION_ID) throw new LogCorrupt(`${file} is not a log file of verustream. ${REPAIR_ADVICE}`);
  const version = layoutOf(database);
  if (version === LAYOUT_VERSION || version === ONE_RECORD_A_ROW) return;
  const advice = 'Run the version of verustream that wrote it, or a newer one.';
  throw new LogCorrupt(
    `the log file ${file} has layout ${version}; this version reads layouts up to ${LAYOUT_VERSION}. ${advice}`,
  );
}

function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
