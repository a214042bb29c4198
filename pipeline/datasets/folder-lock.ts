/** A lock, so that one process at a time writes a folder. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ExclusiveFile, lockFile } from '../../infra/exclusive-file.ts';

/** Returns null while another process has the lock. @throws the file system's error when the folder cannot be written */
export function lockFolder(path: string): ExclusiveFile | null {
  mkdirSync(path, { recursive: true });
  return lockFile(join(path, '.lock'));
}
