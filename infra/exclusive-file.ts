/** A file that one holder has at a time, by an SQLite lock that the operating system frees when the process ends, however it ends. */
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SQLITE, sqliteCode } from './sqlite-errors.ts';

export interface ExclusiveFile {
  release(): void;
}

const { R_OK, W_OK, X_OK } = constants;

/** Null while another process, or another holder in this one, has it. @throws errors of the file system and of SQLite */
export function lockFile(file: string): ExclusiveFile | null {
  // SQLite opens what it may not write for reading and then "locks" nothing.
  accessSync(dirname(file), R_OK | W_OK | X_OK);
  if (existsSync(file)) accessSync(file, R_OK | W_OK);
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return { release: () => database.close() };
}

/** Whether a holder has it. Changes nothing. @throws errors of SQLite */
export function isFileLocked(file: string): boolean {
  if (!existsSync(file)) return false;
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    database.exec('PRAGMA busy_timeout = 0; SELECT count(*) FROM sqlite_schema');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}

const isBusy = (error: unknown): boolean => sqliteCode(error) === SQLITE.busy;
