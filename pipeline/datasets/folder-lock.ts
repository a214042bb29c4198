/** One process writes a folder at a time. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ExclusiveFile, lockFile } from '../../infra/exclusive-file.ts';

/** Null while another process has it. @throws what the file system says of a folder that cannot be written */
export function lockFolder(path: string): ExclusiveFile | null {
  mkdirSync(path, { recursive: true });
  return lockFile(join(path, '.lock'));
}
