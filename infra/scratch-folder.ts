/** Folders for temporary files. Those of a process that was killed are removed by the next one. */
import { existsSync, lstatSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ExclusiveFile, lockFile } from './exclusive-file.ts';

export interface ScratchFolder {
  /** Absolute path. */
  readonly path: string;
  remove(): Promise<void>;
}

const NAME = /^verustream-(sql|export)-/;
/** Held while the folder is in use. */
const LOCK = 'lock';

/** @throws errors of the file system */
export async function makeScratchFolder(purpose: 'sql' | 'export'): Promise<ScratchFolder> {
  await removeLeftScratchFolders();
  for (;;) {
    const path = await mkdtemp(join(tmpdir(), `verustream-${purpose}-`));
    const file = join(path, LOCK);
    const lock = lockFile(file);
    // Another process may take the lock, and remove the folder, in the moment between the two lines.
    if (lock && existsSync(file)) return { path, remove: () => removeFolder(path, lock) };
    lock?.release();
  }
}

/** Removes this user's folders whose processes have ended. Ignores errors: a leftover is not worth one. */
export async function removeLeftScratchFolders(): Promise<void> {
  const names = await readdir(tmpdir()).catch((): string[] => []);
  for (const name of names.filter((each) => NAME.test(each))) {
    const path = join(tmpdir(), name);
    try {
      if (!isOurs(path) || !existsSync(join(path, LOCK))) continue;
      const lock = lockFile(join(path, LOCK));
      if (lock) await removeFolder(path, lock);
    } catch {
      // It may have been removed meanwhile.
    }
  }
}

/** The temporary folder belongs to all users. */
function isOurs(path: string): boolean {
  const found = lstatSync(path);
  return found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid);
}

/** Keeps the lock until the folder is gone. */
async function removeFolder(path: string, lock: ExclusiveFile): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } finally {
    lock.release();
  }
}
