/** One writing process per folder: an SQLite lock, which the kernel frees when the process ends in whatever way. */
import { accessSync, constants, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LogWriterFenced } from '../log-errors.ts';
import { isBusy, withStorageErrors } from './storage-errors.ts';

export interface FolderLock {
  release(): void;
}

/** @throws LogWriterFenced when another process, or another log in this one, holds `folder` */
export function lockFolder(folder: string): FolderLock {
  const lockFile = join(folder, 'writer.lock');
  // In a separate file, since the lock file cannot be read while it is locked. It only names the holder and locks nothing.
  const pidFile = join(folder, 'writer.pid');
  return withStorageErrors(lockFile, 'lock', () => {
    // SQLite opens what it may not write for reading and then "locks" nothing.
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    if (existsSync(lockFile)) accessSync(lockFile, constants.R_OK | constants.W_OK);
    const database = new DatabaseSync(lockFile);
    try {
      database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
      writeFileSync(pidFile, `${process.pid}\n`);
    } catch (error) {
      database.close();
      throw isBusy(error) ? heldError(folder, pidFile) : error;
    }
    return { release: () => database.close() };
  });
}

function heldError(folder: string, pidFile: string): LogWriterFenced {
  const pid = existsSync(pidFile) ? readFileSync(pidFile, 'utf8').trim() : 'unknown';
  const holder = pid === String(process.pid) ? 'another log of this process' : 'another process';
  return new LogWriterFenced(`${holder} (pid ${pid}) uses ${folder}: stop it first, or use another DATA_DIR`);
}
