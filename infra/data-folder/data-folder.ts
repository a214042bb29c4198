/** The data folder belongs to one process: a lock that the operating system frees when the process ends, however it ends. */
import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PermanentError } from '../../schemas/errors.ts';

export interface DataFolder {
  readonly path: string;
  release(): void;
}

export class DataFolderBusy extends PermanentError {
  constructor(path: string, pid: string) {
    super(
      'data_folder_busy',
      `Another verustream (process ${pid}) uses the data folder ${path}. Stop it, or set DATA_DIR to another folder.`,
    );
  }
}

export class DataFolderUnusable extends PermanentError {
  constructor(path: string, cause: unknown) {
    const said = cause instanceof Error ? cause.message : String(cause);
    super(
      'data_folder_unusable',
      `The data folder ${path} cannot be written: ${said}. Free it, make it writable, or set DATA_DIR.`,
      { cause },
    );
  }
}

/** @throws DataFolderBusy, DataFolderUnusable */
export function claimDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  const pidFile = join(path, 'pid');
  let lock: DatabaseSync | null = null;
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.W_OK);
    lock = new DatabaseSync(join(path, 'lock'));
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    writeFileSync(pidFile, String(process.pid));
  } catch (cause) {
    lock?.close();
    if (cause instanceof Error && cause.message === 'database is locked')
      throw new DataFolderBusy(path, readPid(pidFile));
    throw new DataFolderUnusable(path, cause);
  }
  const held = lock;
  return { path, release: () => held.close() };
}

function readPid(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return 'unknown';
  }
}
