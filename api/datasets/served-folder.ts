/** The folder of the data set as clients see it: files named by its manifests and, for a while, files that they named before. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import { shared } from '../../infra/shared.ts';
import { errorCode } from '../../infra/system-errors.ts';
import { DATASET_PATH, type DatasetFile } from '../../schemas/datasets/manifest.ts';
import { DATASET_TABLES, datasetTable } from '../../schemas/datasets/tables.ts';
import { numbersAsText, TEXT_NUMBERS_TYPE } from '../http/numbers.ts';

export interface Manifest {
  readonly table: string;
  readonly files: readonly DatasetFile[];
  readonly changedAt: Date;
  /** Sums over all files. */
  readonly sums: { readonly rows: number; readonly bytes: number };
  /** Hash of the manifest's text on disk, which has no URLs. */
  readonly sha256: string;
  /** Length of the answer, without the base of each URL. */
  lengthOf(form: ManifestForm): number;
}

export type ManifestForm = 'json' | 'text';

export interface ServedObject {
  /** Without quotes. */
  readonly tag: string;
  readonly size: number;
  readonly changedAt: Date;
  readonly type: string;
  /** A file on disk, or a function that makes the bytes when they are sent. */
  readonly content: { readonly file: string } | { readonly make: () => Buffer };
}

/** An object of the folder in a listing. */
export interface ListedObject {
  readonly key: string;
  readonly object: Manifest | DatasetFile;
  readonly changedAt: Date;
}

export interface ServedFolder {
  /** Returns the manifests of all tables that have one, sorted by name. */
  manifests(): Promise<Manifest[]>;
  /** Returns all objects sorted by key; made once for each state of the manifests. */
  objects(): Promise<readonly ListedObject[]>;
  /** Returns a data file; null when there is none. */
  file(path: string): Promise<ServedObject | null>;
  /** Returns a table's manifest by its name in the folder; null when there is none. `base`: prefix of the file URLs. */
  manifest(name: string, base: string, form: ManifestForm): Promise<ServedObject | null>;
}

const TYPES: Readonly<Record<ManifestForm, string>> = { json: 'application/json', text: TEXT_NUMBERS_TYPE };
const MANIFEST = /^([a-z_]+)\.json$/;
const STATS_AT_ONCE = 32;
const NAME_HASH = /\.([0-9a-f]{16})\.parquet$/;

export function createServedFolder(root: string): ServedFolder {
  const kept = new Map<string, { readonly mark: string; readonly manifest: Manifest }>();
  let listed: { readonly of: readonly Manifest[]; readonly objects: readonly ListedObject[] } | null = null;
  /** By path of a listed file. Kept when an export writes the same bytes again, which is no change. */
  let writtenAt: ReadonlyMap<string, Date> = new Map();

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
    const sum = (of: 'rows' | 'bytes') => files.reduce((total, each) => total + each[of], 0);
    const sums = { rows: sum('rows'), bytes: sum('bytes') };
    const manifest = { table, files, changedAt: found.mtime, sums, sha256, lengthOf: lengths(files) };
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
    const changedAt = writtenAt.get(path) ?? found.mtime;
    return { tag, size: found.size, changedAt, type: 'application/vnd.apache.parquet', content: { file } };
  }

  /** Returns the times of the files that exist. */
  async function timesOf(paths: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    const times = new Map<string, Date>();
    for (let at = 0; at < paths.length; at += STATS_AT_ONCE) {
      await Promise.all(
        paths.slice(at, at + STATS_AT_ONCE).map(async (path) => {
          const time = writtenAt.get(path) ?? (await stat(join(root, path)).catch(nullIfMissing))?.mtime;
          if (time) times.set(path, time);
        }),
      );
    }
    return times;
  }

  const objects = shared(async () => {
    const current = await manifests();
    if (listed?.of.length !== current.length || current.some((manifest, index) => manifest !== listed?.of[index])) {
      writtenAt = await timesOf(current.flatMap(({ files }) => files.map(({ path }) => path)));
      listed = { of: current, objects: objectsOf(current, writtenAt) };
    }
    return listed.objects;
  });

  return {
    manifests,
    objects,
    file: async (path) => (DATASET_PATH.test(path) ? dataFile(path) : null),
    async manifest(name, base, form) {
      const table = MANIFEST.exec(name)?.[1];
      const found = table !== undefined && datasetTable(table) ? await manifestOf(table) : null;
      return found && manifestObject(found, base, form);
    },
  };
}

/** `base`: prefix of the file URLs, in ASCII that JSON does not escape. */
export function manifestObject(
  { files, changedAt, sha256, lengthOf }: Manifest,
  base: string,
  form: ManifestForm = 'json',
): ServedObject {
  const tag = createHash('sha256').update(`${sha256} ${base} ${form}`).digest('hex').slice(0, 16);
  const content = { make: () => manifestText(files, base, form) };
  return { tag, size: lengthOf(form) + files.length * base.length, changedAt, type: TYPES[form], content };
}

/** Measures a form at its first use, by making its text once. */
function lengths(files: readonly DatasetFile[]): (form: ManifestForm) => number {
  const known = new Map<ManifestForm, number>();
  return (form) => getOrInsert(known, form, () => manifestText(files, '', form).length);
}

function manifestText(files: readonly DatasetFile[], base: string, form: ManifestForm): Buffer {
  const located = files.map((file) => ({ ...file, url: base + file.path }));
  return Buffer.from(`${JSON.stringify(form === 'text' ? numbersAsText(located) : located, null, 1)}\n`);
}

function objectsOf(manifests: readonly Manifest[], writtenAt: ReadonlyMap<string, Date>): ListedObject[] {
  const objects = manifests.flatMap((manifest) => {
    const { table, files, changedAt } = manifest;
    const own: ListedObject = { key: `${table}.json`, object: manifest, changedAt };
    const others = files.map((file) => ({
      key: file.path,
      object: file,
      changedAt: writtenAt.get(file.path) ?? changedAt,
    }));
    return [own, ...others];
  });
  return objects.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function nullIfMissing(error: unknown): null {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw error;
}
