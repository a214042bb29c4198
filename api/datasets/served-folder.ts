/** The folder of the data set as readers see it: what its manifests name, and for a while what they named. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DATASET_PATH, type DatasetFile } from '../../schemas/datasets/manifest.ts';
import { DATASET_TABLES, datasetTable } from '../../schemas/datasets/tables.ts';

export interface Manifest {
  readonly table: string;
  readonly files: readonly DatasetFile[];
  readonly changedAt: Date;
}

export interface ServedObject {
  /** Without quotes. */
  readonly tag: string;
  readonly size: number;
  readonly changedAt: Date;
  readonly type: string;
  /** On disk; or the bytes themselves. */
  readonly content: string | Buffer;
}

export interface ServedFolder {
  /** Those of all tables that have one, in the order of their names. */
  manifests(): Promise<Manifest[]>;
  /** A manifest or a data file; null where there is none. `base`: what stands before the path of a file's URL. */
  find(path: string, base: string): Promise<ServedObject | null>;
}

const MANIFEST = /^([a-z_]+)\.json$/;
const NAME_HASH = /\.([0-9a-f]{16})\.parquet$/;

export function createServedFolder(root: string): ServedFolder {
  const kept = new Map<string, { readonly mark: string; readonly manifest: Manifest }>();

  async function manifestOf(table: string): Promise<Manifest | null> {
    const file = join(root, `${table}.json`);
    const found = await stat(file).catch(nullIfMissing);
    if (!found) return null;
    const mark = `${found.mtimeMs} ${found.ino} ${found.size}`;
    const known = kept.get(table);
    if (known?.mark === mark) return known.manifest;
    const files = JSON.parse(await readFile(file, 'utf8')) as DatasetFile[];
    const manifest = { table, files, changedAt: found.mtime };
    kept.set(table, { mark, manifest });
    return manifest;
  }

  async function dataFile(path: string): Promise<ServedObject | null> {
    const content = join(root, path);
    const found = await stat(content).catch(nullIfMissing);
    const tag = NAME_HASH.exec(path)?.[1];
    if (!found?.isFile() || tag === undefined) return null;
    return { tag, size: found.size, changedAt: found.mtime, type: 'application/vnd.apache.parquet', content };
  }

  return {
    async manifests() {
      const all = await Promise.all(DATASET_TABLES.map(({ name }) => manifestOf(name)));
      return all.filter((manifest) => manifest !== null).sort((a, b) => (a.table < b.table ? -1 : 1));
    },
    async find(path, base) {
      if (DATASET_PATH.test(path)) return dataFile(path);
      const table = MANIFEST.exec(path)?.[1];
      const manifest = table !== undefined && datasetTable(table) ? await manifestOf(table) : null;
      return manifest && manifestObject(manifest, base);
    },
  };
}

export function manifestObject({ files, changedAt }: Manifest, base: string): ServedObject {
  const content = Buffer.from(
    `${JSON.stringify(
      files.map((file) => ({ ...file, url: base + file.path })),
      null,
      1,
    )}\n`,
  );
  const tag = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { tag, size: content.length, changedAt, type: 'application/json', content };
}

function nullIfMissing(error: unknown): null {
  const code = (error as { code?: unknown }).code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw error;
}
