/** Where a data set is written. A name shows either nothing, or the whole of one file. */
import { glob, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

export interface DatasetFolder {
  /** As the user named it. */
  readonly name: string;
  /** Folder on this machine for files that are being written; there are none in it at first. */
  readonly scratch: string;
  /** Null where there is no such file. */
  read(path: string): Promise<string | null>;
  /** Takes a file of `scratch`, which is gone afterwards. */
  put(path: string, file: string): Promise<void>;
  /** Replaces what is there. */
  write(path: string, text: string): Promise<void>;
  /** Data files that are there, with the moment they were written in ms. */
  files(): AsyncIterable<{ readonly path: string; readonly writtenAt: number }>;
  remove(path: string): Promise<void>;
  /** For the manifest. */
  urlOf(path: string): string;
  /** Discards unfinished writes. */
  close(): Promise<void>;
}

const SCRATCH = '.writing';

/** @throws what the file system says of a folder that cannot be written */
export async function openLocalFolder(root: string): Promise<DatasetFolder> {
  const scratch = join(root, SCRATCH);
  // What a killed process left.
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

/** Whatever comes while files are put in their places goes together after them: one write of the disk's journal serves many. */
function createPlacing(): (placement: Placement) => Promise<void> {
  let waiting: Placement[] = [];
  let next: Promise<void> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  return (placement) => {
    waiting.push(placement);
    next ??= last.then(() => {
      const together = waiting;
      waiting = [];
      next = null;
      return placeAll(together);
    });
    last = next.catch(() => undefined); // who put the files there has the error
    return next;
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

/** With those above it that are not there, each of which survives a loss of power. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  const top = dirname(resolve(first));
  for (let made = resolve(path); made !== top; made = dirname(made)) await sync(dirname(made));
}

/** Its bytes survive a loss of power. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function nullIfMissing(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
  throw error;
}
