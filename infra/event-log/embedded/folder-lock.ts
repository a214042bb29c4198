/** One writing process per folder. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ExclusiveFile, lockFile } from '../../exclusive-file.ts';
import { LogWriterFenced } from '../log-errors.ts';
import { withStorageErrors } from './storage-errors.ts';

/** @throws LogWriterFenced when another process, or another log in this one, holds `folder` */
export function lockFolder(folder: string): ExclusiveFile {
  const file = join(folder, 'writer.lock');
  // A separate file, because the lock file cannot be read while it is locked. It only names the holder.
  const pidFile = join(folder, 'writer.pid');
  return withStorageErrors(file, 'lock', () => {
    const lock = lockFile(file);
    if (!lock) throw heldError(folder, pidFile);
    try {
      writeFileSync(pidFile, `${process.pid}\n`);
    } catch (error) {
      lock.release();
      throw error;
    }
    return lock;
  });
}

function heldError(folder: string, pidFile: string): LogWriterFenced {
  const pid = existsSync(pidFile) ? readFileSync(pidFile, 'utf8').trim() : 'unknown';
  const holder = pid === String(process.pid) ? 'another log of this process' : 'another process';
  return new LogWriterFenced(`${holder} (pid ${pid}) uses ${folder}: stop it first, or use another DATA_DIR`);
}
