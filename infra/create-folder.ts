/** Creates folders. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and its missing parents; does nothing if it exists. The option `recursive` of Node.js never returns where a file system
 * answers ENOENT for a new folder in an existing one, as /proc and automounted folders do.
 * @throws the file system's error
 */
export function createFolder(path: string, mode?: number): void {
  const missing = [resolve(path)];
  for (let parent = dirname(resolve(path)); !existsSync(parent); parent = dirname(parent)) missing.push(parent);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, mode);
    } catch (error) {
      if (!existsSync(folder) || !statSync(folder).isDirectory()) throw error;
    }
  }
}
