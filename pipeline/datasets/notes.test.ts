/** Files stay in a folder for as long as they should, whenever the writing process is killed. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { DatasetFile } from '../../schemas/datasets/manifest.ts';
import { type DatasetFolder, openLocalFolder } from './folder.ts';
import { dayKey, GRACE_MS, noteDay, publish, readNotes, sweep } from './notes.ts';

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

/** A pass that writes the day again, as another file. */
async function pass(into: DatasetFolder, name: string, graceMs = GRACE_MS): Promise<void> {
  const day = { chain: 'vrsc', day: '2026-01-02' };
  const notes = await readNotes(into, TABLE);
  const path = pathOf(name);
  if (notes.days.get(dayKey(day))?.file?.path !== path) {
    await put(path, 2 * HOUR);
    const range = { rows: 1, minHeight: 1, maxHeight: 1, fromHeight: 1, toHeight: 1, bytes: 1, sha256: name };
    const file = { table: TABLE, ...day, closed: true, schemaVersion: 1, generation: null, ...range, path };
    noteDay(notes, { ...day, basis: 'basis chain String,', file }, Date.now());
  }
  await publish(into, TABLE, notes, Date.now());
  await sweep(into, new Map([[TABLE, notes]]), Date.now(), graceMs);
}

const isThere = (path: string): boolean => existsSync(join(root, path));

const named = async (): Promise<string[]> =>
  (JSON.parse(await readFile(join(root, `${TABLE}.json`), 'utf8')) as DatasetFile[]).map(({ path }) => path);

/** A folder that fails before the given write, as if the process was killed. */
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
  'a pass that is killed before its write %i keeps replaced files for as long as every pass does',
  async (write) => {
    await pass(folder, 'a');
    expect(await named()).toEqual([pathOf('a')]);
    await expect(pass(killedAt(write), 'b')).rejects.toThrow('killed');
    await pass(folder, 'b');
    expect(await named()).toEqual([pathOf('b')]);
    expect(isThere(pathOf('a'))).toBe(true);
    await pass(folder, 'b', 0);
    expect(isThere(pathOf('a'))).toBe(false);
    expect(isThere(pathOf('b'))).toBe(true);
  },
);

it('removes only files that an export has written, and none that another export may just have written', async () => {
  const foreign = [
    'blocks/eur.parquet',
    'blocks/chain=vrsc/mine.parquet',
    'blocks/2026-01-02.parquet',
    'own/eur.parquet',
  ];
  for (const path of foreign) await put(path, 2 * HOUR);
  await put(pathOf('c'), 2 * HOUR);
  await put(pathOf('d'), 0);
  const listed: DatasetFolder = {
    ...folder,
    async *files() {
      yield* folder.files();
      // A bucket lists all files in it.
      for (const path of foreign) yield { path, writtenAt: Date.now() - 2 * HOUR };
    },
  };
  await pass(listed, 'a', 0);
  for (const path of foreign) expect(isThere(path), path).toBe(true);
  expect(isThere(pathOf('c'))).toBe(false);
  expect(isThere(pathOf('d'))).toBe(true);
});

it('a file that no manifest has named is removed as soon as the day has another file', async () => {
  await pass(folder, 'a');
  const notes = await readNotes(folder, TABLE);
  const day = [...notes.days.values()][0];
  expect(day?.file).toBeDefined();
  for (const name of ['b', 'c']) {
    await put(pathOf(name), 0);
    if (day?.file) noteDay(notes, { ...day, file: { ...day.file, path: pathOf(name) } }, Date.now());
  }
  await publish(folder, TABLE, notes, Date.now());
  await sweep(folder, new Map([[TABLE, notes]]), Date.now(), 0);
  for (const [name, stays] of [
    ['a', false],
    ['b', false],
    ['c', true],
  ] as const)
    expect(isThere(pathOf(name)), name).toBe(stays);
});

it('a file that the manifest of another export names is kept', async () => {
  await pass(folder, 'a');
  const notes = await readNotes(folder, TABLE);
  await pass(folder, 'b');
  await sweep(folder, new Map([[TABLE, notes]]), Date.now(), 0);
  expect(isThere(pathOf('b'))).toBe(true);
});

it('forgets removed files', async () => {
  for (const name of ['a', 'b', 'c']) await pass(folder, name, 0);
  expect((await readNotes(folder, TABLE)).retired.size).toBe(0);
});
