/** The destination of a data set. A path has either no file or a whole one, never part of a file. */
import { glob, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { shared } from '../../infra/shared.ts';
import { errorCode } from '../../infra/system-errors.ts';

export interface DatasetFolder {
  /** As the user named it. */
  readonly name: string;
  /** Folder on this machine for files that are being written; empty at first. */
  readonly scratch: string;
  /** Returns null when there is no such file. */
  read(path: string): Promise<string | null>;
  /** Moves a file out of `scratch`. */
  put(path: string, file: string): Promise<void>;
  /** Replaces the file at `path`. */
  write(path: string, text: string): Promise<void>;
  /** The existing data files, with the time at which each was written, in ms. */
  files(): AsyncIterable<{ readonly path: string; readonly writtenAt: number }>;
  remove(path: string): Promise<void>;
  /** Returns the address for the manifest. */
  urlOf(path: string): string;
  /** Discards unfinished writes. */
  close(): Promise<void>;
}

const SCRATCH = '.writing';

/** @throws the file system's error when the folder cannot be written */
export async function openLocalFolder(root: string): Promise<DatasetFolder> {
  const scratch = join(root, SCRATCH);
  // Removes the files of a killed process.
  await rm(scratch, { recursive: true, force: true });
  await makeFolder(scratch);

  const placeTogether = createPlacing();
  const place = (file: string, path: string) => placeTogether({ file, target: join(root, path) });

  return {
    name: root,
    scratch,
    read: (path) => readFile(join(root, path), 'utf8').catch(nullIfMissing),
    put: (path, file) => place(file, path),
    async write(path, text) {
      const file = join(scratch, path.replaceAll('/', '+'));
      await writeFile(file, text);
      await place(file, path);
    },
    async *files() {
      for await (const path of glob('*/chain=*/*.parquet', { cwd: root })) {
        yield { path, writtenAt: (await stat(join(root, path))).mtimeMs };
      }
    },
    remove: (path) => rm(join(root, path), { force: true }),
    urlOf: (path) => join(root, path),
    close: () => rm(scratch, { recursive: true, force: true }),
  };
}

interface Placement {
  readonly file: string;
  readonly target: string;
}

/** Files that arrive while others are being placed are placed together afterwards, so that one write of the disk's journal serves many. */
function createPlacing(): (placement: Placement) => Promise<void> {
  let waiting: Placement[] = [];
  const placeWaiting = shared(() => {
    const together = waiting;
    waiting = [];
    return placeAll(together);
  });
  return (placement) => {
    waiting.push(placement);
    return placeWaiting();
  };
}

async function placeAll(placements: readonly Placement[]): Promise<void> {
  const folders = new Set(placements.map(({ target }) => dirname(target)));
  for (const folder of folders) await makeFolder(folder);
  await Promise.all(
    placements.map(async ({ file, target }) => {
      await sync(file);
      await rename(file, target);
    }),
  );
  await Promise.all(Array.from(folders, sync));
}

/** Makes a folder and its missing parents, and syncs each of them, so that it survives a loss of power. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  const top = dirname(resolve(first));
  for (let made = resolve(path); made !== top; made = dirname(made)) await sync(dirname(made));
}

/** Makes the bytes of a file or folder survive a loss of power. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function nullIfMissing(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}
