/** A placed file is on the disk, and so are the folders that were made for it. */
import { readlinkSync } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openLocalFolder } from './folder.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'verustream-folder-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(root, { recursive: true, force: true });
});

/** Collects the paths that are synced from now on, as the kernel names them. */
async function syncedPaths(): Promise<Set<string>> {
  const handle = await open(root, 'r');
  const prototype: { sync(this: { readonly fd: number }): Promise<void> } = Object.getPrototypeOf(handle);
  await handle.close();
  const { sync } = prototype;
  const paths = new Set<string>();
  vi.spyOn(prototype, 'sync').mockImplementation(function (this: { readonly fd: number }) {
    paths.add(readlinkSync(`/proc/self/fd/${this.fd}`));
    return sync.call(this);
  });
  return paths;
}

it('syncs every folder with a new entry: that of the file, and the parents that were made for it', async () => {
  const target = join(root, 'out');
  const folder = await openLocalFolder(target);
  const synced = await syncedPaths();
  const place = async (path: string) => {
    synced.clear();
    const file = join(folder.scratch, 'x');
    await writeFile(file, 'x');
    await folder.put(path, file);
    return synced;
  };
  const made = await place('blocks/chain=vrsc/a.parquet');
  const there = join(target, 'blocks/chain=vrsc');
  for (const path of [there, dirname(there), target]) expect(made).toContain(path);
  // Folders that existed before have no new entry.
  expect(await place('blocks/chain=vrsc/b.parquet')).not.toContain(target);
  expect(await place('blocks/chain=other/a.parquet')).toContain(join(target, 'blocks'));
});

it('syncs the folders that it is made in', async () => {
  const synced = await syncedPaths();
  await openLocalFolder(join(root, 'some/where'));
  for (const path of [root, join(root, 'some')]) expect(synced).toContain(path);
});
