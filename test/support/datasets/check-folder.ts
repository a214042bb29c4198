/** Reads a data-set folder as a consumer may at any moment: every file that a manifest lists is complete and matches the manifest. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DATASET_PATH, type DatasetFile } from '../../../schemas/datasets/manifest.ts';
import { DATASET_TABLES } from '../../../schemas/datasets/tables.ts';
import type { DuckDb } from './duckdb.ts';

export async function readManifest(folder: string, table: string): Promise<DatasetFile[]> {
  const file = join(folder, `${table}.json`);
  return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as DatasetFile[]) : [];
}

/** Returns the number of files. @throws Error that names the first fault */
export async function checkFolder(folder: string): Promise<number> {
  let checked = 0;
  for (const { name } of DATASET_TABLES) {
    const files = await readManifest(folder, name);
    const seen = new Map<string, DatasetFile>();
    for (const file of files) {
      const { path, bytes, sha256, chain, day } = file;
      if (!DATASET_PATH.test(path)) throw new Error(`${path} could not be served`);
      if (seen.has(`${chain} ${day}`)) throw new Error(`${name} has ${chain} ${day} twice`);
      seen.set(`${chain} ${day}`, file);
      const content = await readFile(join(folder, path));
      if (content.length !== bytes) throw new Error(`${path} has ${content.length} bytes, not ${bytes}`);
      if (createHash('sha256').update(content).digest('hex') !== sha256) throw new Error(`${path} has another hash`);
      checked++;
    }
    const generations = new Set(files.map(({ path }) => /\.g([\d-]+)\./.exec(path)?.[1]));
    if (generations.size > 1) throw new Error(`${name} mixes the generations ${[...generations].join(', ')}`);
    checkRanges(files);
  }
  return checked;
}

/** The files of a chain cover disjoint ranges of blocks in the order of their days, and contain only rows of those blocks. */
function checkRanges(files: readonly DatasetFile[]): void {
  for (const [chain, own] of Map.groupBy(files, (file) => file.chain)) {
    let before = -1;
    for (const { path, fromHeight, toHeight, minHeight, maxHeight } of own) {
      if (fromHeight <= before || minHeight < fromHeight || maxHeight > toHeight) {
        throw new Error(
          `${path} of ${chain} has rows of ${minHeight} to ${maxHeight}, and ${fromHeight} to ${toHeight} after ${before}`,
        );
      }
      before = toHeight;
    }
  }
}

/** The table expression for FROM that reads the rows of a table in a folder. */
export async function rowsOf(folder: string, table: string): Promise<string> {
  const files = (await readManifest(folder, table)).map(({ path }) => `'${join(folder, path)}'`);
  return `read_parquet([${files.join(', ')}], hive_partitioning = false)`;
}

export async function countRows(duckdb: DuckDb, folder: string, table: string): Promise<number> {
  const files = await readManifest(folder, table);
  if (files.length === 0) return 0;
  const [row] = await duckdb.rows(`SELECT count(*) AS n FROM ${await rowsOf(folder, table)}`);
  return Number(row?.n);
}
