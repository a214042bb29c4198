/** Closed files: those that only their owner may access. */
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const OTHERS = 0o077;

export const isClosed = (path: string): boolean =>
  process.platform === 'win32' || (lstatSync(path).mode & OTHERS) === 0;

/** Whether this process may close the file: only its owner and root may. */
export function mayClose(path: string): boolean {
  const user = process.getuid?.();
  return user !== undefined && (user === 0 || lstatSync(path).uid === user);
}

/** Closes a folder after its contents, so that a closed folder is known to be closed completely. Does not follow symbolic links. */
export function closeTree(path: string): void {
  const found = lstatSync(path);
  if (found.isSymbolicLink() || isClosed(path) || !mayClose(path)) return;
  if (found.isDirectory()) for (const name of readdirSync(path)) closeTree(join(path, name));
  chmodSync(path, found.mode & 0o700);
}
