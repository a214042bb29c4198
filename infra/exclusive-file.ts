/** A file lock with one holder at a time: an SQLite lock, which the operating system frees when the process ends in any way. */
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SQLITE, sqliteCode } from './sqlite-errors.ts';

export interface ExclusiveFile {
  release(): void;
}

const { R_OK, W_OK, X_OK } = constants;

/** Returns null while another process, or another holder in this process, has the lock. @throws errors of the file system and SQLite */
export function lockFile(file: string): ExclusiveFile | null {
  // Without write access, SQLite would open the file for reading and then lock nothing.
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

/** Whether any holder has the lock. Changes nothing. @throws errors of SQLite */
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
