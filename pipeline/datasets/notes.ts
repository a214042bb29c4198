/** The notes on a table that an export keeps in the folder itself, next to the manifest that readers see. */
import { DATASET_PATH, type DatasetDay, type DatasetFile } from '../../schemas/datasets/manifest.ts';
import { columnsIn } from './basis.ts';
import type { DatasetFolder } from './folder.ts';

export interface Notes {
  /** By chain and day. */
  readonly days: Map<string, DatasetDay>;
  /** Files that the manifest no longer names → since when, in ms. */
  readonly retired: Map<string, number>;
  /** Paths that the manifest names. */
  published: ReadonlySet<string>;
  /** Whether the notes differ from the folder. */
  isChanged: boolean;
}

/** For a served folder: long enough for a reader of a manifest to fetch the files that it names. */
export const GRACE_MS = 3_600_000;
/** Notes of another version are not read, and every day is written again. */
const VERSION = 1;

export const dayKey = ({ chain, day }: Pick<DatasetDay, 'chain' | 'day'>): string => `${chain} ${day}`;
const manifestPath = (table: string): string => `${table}.json`;
const notesPath = (table: string): string => `notes/${table}.json`;

type NotedFile = Omit<DatasetFile, 'url'>;

interface StoredNotes {
  readonly version: number;
  readonly days: readonly DatasetDay[];
  readonly retired: readonly (readonly [path: string, since: number])[];
}

export async function readNotes(folder: DatasetFolder, table: string): Promise<Notes> {
  const text = await folder.read(manifestPath(table));
  const stored = JSON.parse((await folder.read(notesPath(table))) ?? '{}') as Partial<StoredNotes>;
  const { days = [], retired = [] } = stored.version === VERSION ? stored : {};
  const known = new Map(days.map((day) => [dayKey(day), day]));
  const files = filesToPublish(known);
  return {
    days: known,
    retired: new Map(retired),
    published: pathsIn(text),
    // A process that was killed between the two writes may have left the manifest older than the notes.
    isChanged: stored.version !== VERSION || files === null || text !== manifestText(folder, files),
  };
}

/** Retires the file that the day had before, even if no manifest has named it. */
export function noteDay(notes: Notes, day: DatasetDay, now: number): void {
  const key = dayKey(day);
  forgetDay(notes, key, now);
  notes.days.set(key, day);
  if (day.file) notes.retired.delete(day.file.path);
}

export function forgetDay(notes: Notes, key: string, now: number): void {
  const path = notes.days.get(key)?.file?.path;
  if (path !== undefined && !notes.published.has(path)) notes.retired.set(path, now);
  notes.days.delete(key);
  notes.isChanged = true;
}

/** Replaces the manifest at once, and only when all days have the same generation and the same columns. */
export async function publish(folder: DatasetFolder, table: string, notes: Notes, now: number): Promise<void> {
  if (!notes.isChanged) return;
  notes.isChanged = false;
  const files = filesToPublish(notes.days);
  if (!files) return writeNotes(folder, table, notes);
  const published = new Set(files.map(({ path }) => path));
  for (const path of notes.published) if (!published.has(path)) notes.retired.set(path, now);
  for (const path of published) notes.retired.delete(path);
  // The notes come first, so that every file that the manifest no longer names has a time of retirement.
  await writeNotes(folder, table, notes);
  await folder.write(manifestPath(table), manifestText(folder, files));
  notes.published = published;
}

async function writeNotes(folder: DatasetFolder, table: string, { days, retired }: Notes): Promise<void> {
  const stored: StoredNotes = { version: VERSION, days: [...days.values()], retired: [...retired] };
  await folder.write(notesPath(table), JSON.stringify(stored));
}

/** Whether the manifest can name the files. */
export const isOfOneKind = ({ days }: Notes): boolean => filesToPublish(days) !== null;

/** Returns null while the files are of several generations or differ in their columns. */
function filesToPublish(days: Notes['days']): NotedFile[] | null {
  const withFiles = [...days.values()].flatMap(({ file, basis }) => (file ? [{ file, basis }] : []));
  const kinds = new Set(withFiles.map(({ file, basis }) => `${generationsIn(file)} ${columnsIn(basis)}`));
  return kinds.size > 1 ? null : withFiles.map(({ file }) => file).sort(byPlace);
}

function manifestText(folder: DatasetFolder, files: readonly NotedFile[]): string {
  const manifest: DatasetFile[] = files.map((file) => ({ ...file, url: folder.urlOf(file.path) }));
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

/**
 * Removes files that were replaced long ago or left by a killed process. Files whose names are not those of an export are left alone, and
 * a file that no notes mention is kept for a while, because another process may have just written it.
 */
export async function sweep(
  folder: DatasetFolder,
  all: ReadonlyMap<string, Notes>,
  now: number,
  graceMs: number,
): Promise<void> {
  const left = new Set<string>();
  const named = new Map<string, ReadonlySet<string>>();
  for await (const { path, writtenAt } of folder.files()) {
    const table = path.slice(0, path.indexOf('/'));
    const notes = all.get(table);
    if (!notes || !DATASET_PATH.test(path)) continue;
    left.add(path);
    if (notes.published.has(path) || isNoted(notes, path)) continue;
    const retiredAt = notes.retired.get(path);
    if (retiredAt === undefined ? now - writtenAt < GRACE_MS : now - retiredAt < graceMs) continue;
    // Another process may have written a bucket's manifest since this pass read it.
    const published = named.get(table) ?? pathsIn(await folder.read(manifestPath(table)));
    named.set(table, published);
    if (published.has(path)) continue;
    await folder.remove(path);
    left.delete(path);
  }
  for (const [table, notes] of all) {
    const gone = [...notes.retired.keys()].filter((path) => !left.has(path));
    for (const path of gone) notes.retired.delete(path);
    if (gone.length > 0) await writeNotes(folder, table, notes);
  }
}

/** Paths of the files that a manifest names. */
function pathsIn(manifest: string | null): ReadonlySet<string> {
  return new Set((JSON.parse(manifest ?? '[]') as DatasetFile[]).map(({ path }) => path));
}

const isNoted = ({ days }: Notes, path: string): boolean => days.values().some(({ file }) => file?.path === path);

const byPlace = (a: Pick<DatasetFile, 'chain' | 'day'>, b: Pick<DatasetFile, 'chain' | 'day'>): number =>
  a.chain < b.chain ? -1 : a.chain > b.chain ? 1 : a.day < b.day ? -1 : a.day > b.day ? 1 : 0;

/** The generations in the name of a file. */
export const generationsIn = ({ path }: Pick<DatasetFile, 'path'>): string => /\.g([\d-]+)\./.exec(path)?.[1] ?? '';
