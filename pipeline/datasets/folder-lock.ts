/** One process writes a folder at a time: a lock that the operating system frees when the process ends, however it ends. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** https://sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

/** Null while another process has it. @throws what the file system says of a folder that cannot be written */
export function lockFolder(path: string): { release(): void } | null {
  mkdirSync(path, { recursive: true });
  const lock = new DatabaseSync(join(path, '.lock'));
  try {
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
  return { release: () => lock.close() };
}
