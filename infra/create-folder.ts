/** Creates folders. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and its missing parents; does nothing if it exists. The option `recursive` of Node.js never returns where a file system
 * answers ENOENT for a new folder in an existing one, as /proc does.
 * @throws the file system's error
 */
export function createFolder(path: string, mode?: number): void {
  const folder = resolve(path);
  const parent = dirname(folder);
  if (parent !== folder && !existsSync(parent)) createFolder(parent, mode);
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    if (!existsSync(folder) || !statSync(folder).isDirectory()) throw error;
  }
}
