/** The data folder, which one process at a time owns and other users cannot access. */
import { accessSync, chmodSync, constants, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf, PermanentError } from '../../schemas/errors.ts';
import { createFolder } from '../create-folder.ts';
import { type ExclusiveFile, isFileLocked, lockFile } from '../exclusive-file.ts';
import { closeTree, isClosed, mayClose } from './closed-files.ts';

/** Prefix of folders that only the process that created them needs. */
export const SCRATCH_PREFIX = 'verify-';

export interface DataFolder {
  readonly path: string;
  /** True if other users may enter the folder and this process cannot change that, because another user owns it. */
  readonly isOpen: boolean;
  release(): void;
}

export class DataFolderBusy extends PermanentError {
  constructor(path: string, pid: string) {
    super(
      'data_folder_busy',
      `Another verustream (process ${pid}) uses the data folder ${path}. If it is starting, or runs a command, wait for it; otherwise stop it, or set DATA_DIR to another folder.`,
    );
  }
}

export class DataFolderUnusable extends PermanentError {
  constructor(path: string, cause: unknown) {
    const said = messageOf(cause);
    super(
      'data_folder_unusable',
      `The data folder ${path} cannot be written: ${said}. Free space, make it writable, or set DATA_DIR.`,
      { cause },
    );
  }
}

/** @throws DataFolderBusy, DataFolderUnusable */
export function claimDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  const pidFile = join(path, 'pid');
  let lock: ExclusiveFile | null = null;
  try {
    createFolder(path, 0o700);
    accessSync(path, constants.W_OK);
    if (mayClose(path)) chmodSync(path, 0o700);
    lock = lockFile(join(path, 'lock'));
    if (!lock) throw new DataFolderBusy(path, readPid(pidFile));
    for (const name of readdirSync(path)) {
      // Left by a command that was killed.
      if (name.startsWith(SCRATCH_PREFIX)) rmSync(join(path, name), { recursive: true, force: true });
      else closeTree(join(path, name));
    }
    writeFileSync(pidFile, String(process.pid), { mode: 0o600 });
  } catch (cause) {
    lock?.release();
    throw cause instanceof DataFolderBusy ? cause : new DataFolderUnusable(path, cause);
  }
  return { path, isOpen: !isClosed(path), release: lock.release };
}

/** Inspects an existing folder without changing it. @throws DataFolderBusy, DataFolderUnusable */
export function inspectDataFolder(folder: string): Pick<DataFolder, 'path' | 'isOpen'> {
  const path = resolve(folder);
  try {
    readdirSync(path); // fails for a file
    accessSync(path, constants.W_OK);
    if (isFileLocked(join(path, 'lock'))) throw new DataFolderBusy(path, readPid(join(path, 'pid')));
    return { path, isOpen: !isClosed(path) };
  } catch (cause) {
    throw cause instanceof DataFolderBusy ? cause : new DataFolderUnusable(path, cause);
  }
}

function readPid(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return 'unknown';
  }
}
