/** The folder of the data set as readers see it: what its manifests name, and for a while what they named. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DATASET_PATH, type DatasetFile } from '../../schemas/datasets/manifest.ts';
import { DATASET_TABLES, datasetTable } from '../../schemas/datasets/tables.ts';
import { numbersAsText, TEXT_NUMBERS_TYPE } from '../http/numbers.ts';

export interface Manifest {
  readonly table: string;
  readonly files: readonly DatasetFile[];
  readonly changedAt: Date;
  /** Hash of its text on disk, which has no URLs. */
  readonly sha256: string;
  /** Length of the answer, without what stands before the path of each URL. */
  readonly bytes: number;
}

export interface ServedObject {
  /** Without quotes. */
  readonly tag: string;
  readonly size: number;
  readonly changedAt: Date;
  readonly type: string;
  /** On disk; or the bytes themselves, made only for who gets them. */
  readonly content: { readonly file: string } | { readonly make: () => Buffer };
}

/** An object of the folder, as a listing names it. */
export interface ListedObject {
  readonly key: string;
  readonly object: Manifest | DatasetFile;
  readonly changedAt: Date;
}

export interface ServedFolder {
  /** Those of all tables that have one, in the order of their names. */
  manifests(): Promise<Manifest[]>;
  /** All objects, by key. Made once for each state of the manifests. */
  objects(): Promise<readonly ListedObject[]>;
  /** A data file; null where there is none. */
  file(path: string): Promise<ServedObject | null>;
  /** A table's manifest by its name in the folder; null where there is none. `base`: what stands before the path of a file's URL. */
  manifest(name: string, base: string, numbers: 'json' | 'text'): Promise<ServedObject | null>;
}

const MANIFEST = /^([a-z_]+)\.json$/;
const NAME_HASH = /\.([0-9a-f]{16})\.parquet$/;

export function createServedFolder(root: string): ServedFolder {
  const kept = new Map<string, { readonly mark: string; readonly manifest: Manifest }>();
  let listed: { readonly of: readonly Manifest[]; readonly objects: readonly ListedObject[] } | null = null;

  async function manifestOf(table: string): Promise<Manifest | null> {
    const file = join(root, `${table}.json`);
    const found = await stat(file).catch(nullIfMissing);
    if (!found) return null;
    const mark = `${found.mtimeMs} ${found.ino} ${found.size}`;
    const known = kept.get(table);
    if (known?.mark === mark) return known.manifest;
    const text = await readFile(file, 'utf8');
    const files = JSON.parse(text) as DatasetFile[];
    const sha256 = createHash('sha256').update(text).digest('hex');
    const manifest = { table, files, changedAt: found.mtime, sha256, bytes: manifestText(files, '').length };
    kept.set(table, { mark, manifest });
    return manifest;
  }

  async function manifests(): Promise<Manifest[]> {
    const all = await Promise.all(DATASET_TABLES.map(({ name }) => manifestOf(name)));
    return all.filter((manifest) => manifest !== null).sort((a, b) => (a.table < b.table ? -1 : 1));
  }

  async function dataFile(path: string): Promise<ServedObject | null> {
    const file = join(root, path);
    const found = await stat(file).catch(nullIfMissing);
    const tag = NAME_HASH.exec(path)?.[1];
    if (!found?.isFile() || tag === undefined) return null;
    return { tag, size: found.size, changedAt: found.mtime, type: 'application/vnd.apache.parquet', content: { file } };
  }

  return {
    manifests,
    async objects() {
      const current = await manifests();
      if (listed?.of.length !== current.length || current.some((manifest, index) => manifest !== listed?.of[index])) {
        listed = { of: current, objects: objectsOf(current) };
      }
      return listed.objects;
    },
    file: async (path) => (DATASET_PATH.test(path) ? dataFile(path) : null),
    async manifest(name, base, numbers) {
      const table = MANIFEST.exec(name)?.[1];
      const found = table !== undefined && datasetTable(table) ? await manifestOf(table) : null;
      if (!found) return null;
      return numbers === 'text' ? textManifestObject(found, base) : manifestObject(found, base);
    },
  };
}

/** `base`: what stands before the path of a file's URL, in ASCII that JSON leaves as it is. */
export function manifestObject({ files, changedAt, sha256, bytes }: Manifest, base: string): ServedObject {
  const content = { make: () => manifestText(files, base) };
  const size = bytes + files.length * base.length;
  return { tag: tagOf(`${sha256} ${base}`), size, changedAt, type: 'application/json', content };
}

/** With numbers=text. */
function textManifestObject({ files, changedAt, sha256 }: Manifest, base: string): ServedObject {
  const body = manifestText(files, base, numbersAsText);
  const content = { make: () => body };
  return { tag: tagOf(`${sha256} ${base} text`), size: body.length, changedAt, type: TEXT_NUMBERS_TYPE, content };
}

const tagOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

function manifestText(
  files: readonly DatasetFile[],
  base: string,
  form: (value: unknown) => unknown = (value) => value,
): Buffer {
  const located = files.map((file) => ({ ...file, url: base + file.path }));
  return Buffer.from(`${JSON.stringify(form(located), null, 1)}\n`);
}

function objectsOf(manifests: readonly Manifest[]): ListedObject[] {
  const objects = manifests.flatMap((manifest) => {
    const { table, files, changedAt } = manifest;
    const own: ListedObject = { key: `${table}.json`, object: manifest, changedAt };
    return [own, ...files.map((file) => ({ key: file.path, object: file, changedAt }))];
  });
  return objects.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function nullIfMissing(error: unknown): null {
  const code = (error as { code?: unknown }).code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw error;
}
