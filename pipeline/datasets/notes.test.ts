/** What stays in a folder, and for how long, whenever the process that writes it is killed. */
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { DatasetFile } from '../../schemas/datasets/manifest.ts';
import { type DatasetFolder, openLocalFolder } from './folder.ts';
import { dayKey, GRACE_MS, publish, readNotes, sweep } from './notes.ts';

const TABLE = 'blocks';
const HOUR = 3_600_000;
let root: string;
let folder: DatasetFolder;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'verustream-notes-'));
  folder = await openLocalFolder(root);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const pathOf = (name: string) => `${TABLE}/chain=vrsc/2026-01-02.${name.padEnd(16, '0')}.parquet`;

async function put(path: string, ageMs: number): Promise<void> {
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, path);
  const at = new Date(Date.now() - ageMs);
  await utimes(file, at, at);
}

/** A pass that writes the day anew, as another file. */
async function pass(into: DatasetFolder, name: string, graceMs = GRACE_MS): Promise<void> {
  const day = { chain: 'vrsc', day: '2026-01-02' };
  const notes = await readNotes(into, TABLE);
  const path = pathOf(name);
  if (notes.days.get(dayKey(day))?.file?.path !== path) {
    await put(path, 2 * HOUR);
    const range = { rows: 1, minHeight: 1, maxHeight: 1, fromHeight: 1, toHeight: 1, bytes: 1, sha256: name };
    const file = { table: TABLE, ...day, closed: true, schemaVersion: 1, generation: null, ...range, path };
    notes.days.set(dayKey(day), { ...day, basis: 'basis chain String,', file });
    notes.isChanged = true;
  }
  await publish(into, TABLE, notes, Date.now());
  await sweep(into, new Map([[TABLE, notes]]), Date.now(), graceMs);
}

const named = async (): Promise<string[]> =>
  (JSON.parse(await readFile(join(root, `${TABLE}.json`), 'utf8')) as DatasetFile[]).map(({ path }) => path);

/** Ends as if killed before the write of that number. */
function killedAt(write: number): DatasetFolder {
  let count = 0;
  return {
    ...folder,
    async write(path, text) {
      count++;
      if (count === write) throw new Error('killed');
      await folder.write(path, text);
    },
  };
}

it.each([1, 2])(
  'a pass that is killed before its write %i leaves replaced files for as long as any other',
  async (write) => {
    await pass(folder, 'a');
    expect(await named()).toEqual([pathOf('a')]);
    await expect(pass(killedAt(write), 'b')).rejects.toThrow('killed');
    await pass(folder, 'b');
    expect(await named()).toEqual([pathOf('b')]);
    expect(await folder.has(pathOf('a'))).toBe(true);
    await pass(folder, 'b', 0);
    expect(await folder.has(pathOf('a'))).toBe(false);
    expect(await folder.has(pathOf('b'))).toBe(true);
  },
);
