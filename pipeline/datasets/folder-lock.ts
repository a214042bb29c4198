/** A lock, so that one process at a time writes a folder. */
import { join } from 'node:path';
import { createFolder } from '../../infra/create-folder.ts';
import { type ExclusiveFile, lockFile } from '../../infra/exclusive-file.ts';

/** Returns null while another process has the lock. @throws the file system's error when the folder cannot be written */
export function lockFolder(path: string): ExclusiveFile | null {
  createFolder(path);
  return lockFile(join(path, '.lock'));
}
