/**
 * The data folder belongs to one process: a lock that the operating system frees when the process ends, however it ends. It is
 * closed to other users.
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, PermanentError } from '../../schemas/errors.ts';
import { closeTree, isClosed, mayClose } from './closed-files.ts';

export interface DataFolder {
  readonly path: string;
  /** Whether other users may enter it, which only its owner, a different user, can change. */
  readonly isOpen: boolean;
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
  let lock: DatabaseSync | null = null;
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.W_OK);
    if (mayClose(path)) chmodSync(path, 0o700);
    lock = new DatabaseSync(join(path, 'lock'));
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    for (const name of readdirSync(path)) closeTree(join(path, name));
    writeFileSync(pidFile, String(process.pid), { mode: 0o600 });
  } catch (cause) {
    lock?.close();
    if (isLocked(cause)) throw new DataFolderBusy(path, readPid(pidFile));
    throw new DataFolderUnusable(path, cause);
  }
  const held = lock;
  return { path, isOpen: !isClosed(path), release: () => held.close() };
}

/** Looks at a folder that is there, and changes nothing. @throws DataFolderBusy, DataFolderUnusable */
export function inspectDataFolder(folder: string): Pick<DataFolder, 'path' | 'isOpen'> {
  const path = resolve(folder);
  const file = join(path, 'lock');
  let lock: DatabaseSync | null = null;
  try {
    accessSync(path, constants.W_OK);
    if (existsSync(file)) {
      lock = new DatabaseSync(file, { readOnly: true });
      lock.exec('PRAGMA busy_timeout = 0; SELECT count(*) FROM sqlite_schema');
    }
    return { path, isOpen: !isClosed(path) };
  } catch (cause) {
    throw isLocked(cause) ? new DataFolderBusy(path, readPid(join(path, 'pid'))) : new DataFolderUnusable(path, cause);
  } finally {
    lock?.close();
  }
}

/** https://sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

const isLocked = (cause: unknown): boolean =>
  cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY;

function readPid(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return 'unknown';
  }
}
