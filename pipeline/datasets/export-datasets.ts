/** One pass over the data set: writes every file that differs from the stores. docs/decisions/0089-data-set.md */
import { rm } from 'node:fs/promises';
import type { Stores } from '../../infra/stores.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import type { DatasetTable } from '../../schemas/datasets/table.ts';
import { atRest } from './at-rest.ts';
import { openConfirmation, type WrittenTask } from './confirm-days.ts';
import { createExportProgress, type ExportProgress } from './export-progress.ts';
import { type ChainDay, type ExportState, haveStayed, isUnchanged, readExportState } from './export-state.ts';
import type { DatasetFolder } from './folder.ts';
import { dayKey, forgetDay, isOfOneKind, type Notes, noteDay, publish, readNotes, sweep } from './notes.ts';
import { type ExportPace, restAfter } from './pace.ts';
import { isAhead, stands, type Task, taskOf } from './tasks.ts';
import { AT_ONCE, createTurns, type Turns } from './turns.ts';
import { type WriteBounds, type WriteTurns, type WrittenDay, writeDay } from './write-day.ts';

export interface ExportOptions {
  readonly stores: Stores;
  readonly chains: readonly Pick<ChainConfig, 'name' | 'finalityDepth'>[];
  /** Names of further chains whose files stay as they are. Files of any other chain are removed. */
  readonly keptChains?: readonly string[];
  readonly tables: readonly DatasetTable[];
  /** Adds only files of these UTC days; all files that exist are brought up to date, so that a manifest never mixes states. */
  readonly addedDays?: DayRange;
  readonly folder: DatasetFolder;
  readonly pace: ExportPace;
  /** How long a file is kept after the manifest no longer names it. */
  readonly graceMs: number;
  readonly signal: AbortSignal;
  readonly progress?: (progress: ExportProgress) => void;
}

/** `2026-05-01`: from the first day until before the second; null for no bound. */
export interface DayRange {
  readonly from: string | null;
  readonly to: string | null;
}

export interface ExportedTable {
  readonly table: string;
  readonly files: number;
  readonly rows: number;
  readonly bytes: number;
  /** Files that this pass wrote. */
  readonly written: number;
}

export interface ExportOutcome {
  readonly tables: readonly ExportedTable[];
  /** Days that changed while they were being written: the next pass writes them. */
  readonly missed: number;
  /** Tables whose manifests are unchanged, because files of chains that this pass did not write have another generation or other columns. */
  readonly withheld: readonly WithheldTable[];
}

export interface WithheldTable {
  readonly table: string;
  readonly chains: readonly string[];
}

/** How often a long export publishes manifests. */
const PUBLISH_MS = 15_000;
const ALL_DAYS: DayRange = { from: null, to: null };

/** Stopping it loses only the files being written, and in a bucket the files since the notes were last written. */
export async function exportDatasets(options: ExportOptions): Promise<ExportOutcome> {
  const { stores, chains, tables, folder, signal, pace } = options;
  const confirmation = await openConfirmation(stores.postgres, chains);
  const state = await readExportState(stores, chains);
  const there = new Set<string>();
  for await (const { path } of folder.files()) there.add(path);
  const notes = new Map<string, Notes>();
  const tasks: Task[] = [];
  for (const table of tables) {
    const known = await readNotes(folder, table.name);
    notes.set(table.name, known);
    forgetGoneDays(known, state, options);
    for (const day of state.days) {
      const task = taskOf(table, day, state.priced);
      const before = known.days.get(dayKey(day));
      if (!before && !isAdded(day, options)) continue;
      const isKept = !task && before && (await isAhead(before, { table, day, priced: state.priced }, stores));
      if (!task && before && !isKept) forgetDay(known, dayKey(day), Date.now());
      if (task && !(await stands(task, known, there, stores))) tasks.push(task);
    }
  }
  const written = new Map<string, number>();
  const progress = createExportProgress(tasks, options.progress);
  let missed = 0;
  const note = ({ task: { table, day, basis }, file }: WrittenTask) => {
    noteDay(notesOf(notes, table), { chain: day.chain, day: day.day, basis, file }, Date.now());
    if (file) written.set(table.name, (written.get(table.name) ?? 0) + 1);
  };
  /** Written, but not in the notes yet. */
  let unconfirmed: WrittenTask[] = [];
  const confirmAll = async () => {
    const asked = unconfirmed;
    unconfirmed = [];
    const confirmed = await confirmation.confirmed(asked);
    missed += asked.length - confirmed.length;
    confirmed.forEach(note);
  };
  let publishedAt = Date.now();
  let publishing = Promise.resolve();
  const publishAll = () => {
    publishedAt = Date.now();
    publishing = publishing.then(async () => {
      try {
        await confirmAll();
      } finally {
        for (const [table, known] of notes) await publish(folder, table, known, publishedAt);
      }
    });
    return publishing;
  };
  const turns = { write: createTurns(pace.atOnce), copy: createTurns(pace.copiesAtOnce) };
  const pauses = createTurns(1); // a stage waits for one file at a time, whatever the pace
  const queue = tasks.values();
  const work = async () => {
    for (const task of queue) {
      signal.throwIfAborted();
      const began = performance.now();
      const done = await writeTask(options, task, turns, pauses);
      if (!done) missed++;
      else if (isAtRest(task)) unconfirmed.push(done);
      else note(done);
      progress(task, done?.file?.rows ?? 0);
      if (Date.now() - publishedAt > PUBLISH_MS) await publishAll();
      await restAfter(pace, performance.now() - began, signal);
    }
  };
  const workers = Array.from({ length: pace.atOnce + pace.meanwhile }, work);
  await Promise.allSettled(workers);
  await publishAll();
  await Promise.all(workers);
  await sweep(folder, notes, Date.now(), options.graceMs);
  return {
    tables: tables.map(({ name }) => summary(name, notesOf(notes, { name }), written.get(name) ?? 0)),
    missed,
    withheld: withheldTables(notes, state, chains),
  };
}

function isAdded({ day }: ChainDay, { addedDays: { from, to } = ALL_DAYS }: ExportOptions): boolean {
  return (from === null || day >= from) && (to === null || day < to);
}

/** Returns null when the day changed in the meantime. */
async function writeTask(
  options: ExportOptions,
  task: Task,
  turns: WriteTurns,
  pauses: Turns,
): Promise<WrittenTask | null> {
  const { stores, folder, pace, signal } = options;
  const bounds = { scratch: folder.scratch, pace, signal, turns };
  if (!isAtRest(task)) return pauses(() => writePaused(options, task, bounds));
  return placed(folder, task, await writeDay(stores, task, bounds));
}

/** Writes the file while the stages of the day wait. */
async function writePaused(
  { stores, folder, pace }: ExportOptions,
  task: Task,
  bounds: WriteBounds,
): Promise<WrittenTask | null> {
  const hasPrices = task.table.store === 'prices';
  const done = await atRest(stores, { ...task, hasPrices }, async (priced) => {
    const now = taskOf(task.table, task.whole, priced) ?? task;
    const paused = { ...bounds, pace: { ...pace, nice: 0 }, turns: { write: AT_ONCE, copy: AT_ONCE } };
    return { task: now, written: await writeDay(stores, now, paused) };
  });
  if (!done) return null;
  const { pool } = stores.postgres;
  const hasStayed = !hasPrices || (await haveStayed(pool, task.priced, done.task.priced));
  if (hasStayed && (await isUnchanged(pool, done.task.day))) return placed(folder, done.task, done.written);
  if (done.written) await rm(done.written.file, { force: true });
  return null;
}

async function placed(folder: DatasetFolder, task: Task, written: WrittenDay | null): Promise<WrittenTask> {
  if (written) await folder.put(written.entry.path, written.file);
  return { task, file: written?.entry ?? null };
}

/** True when no stage changes rows of the day, or its rows are in Postgres, which shows only committed rows. */
const isAtRest = ({ isClosed, table }: Task): boolean => isClosed || table.store === 'postgres';

function forgetGoneDays(notes: Notes, { days, incomplete }: ExportState, { chains, keptChains }: ExportOptions): void {
  const present = new Set(days.map(dayKey));
  const kept = new Set(keptChains);
  for (const { name } of chains) if (incomplete.has(name)) kept.add(name);
  for (const [key, { chain }] of notes.days)
    if (!present.has(key) && !kept.has(chain)) forgetDay(notes, key, Date.now());
}

function withheldTables(
  notes: ReadonlyMap<string, Notes>,
  { incomplete }: ExportState,
  chains: ExportOptions['chains'],
): WithheldTable[] {
  const written = new Set(chains.map(({ name }) => name).filter((name) => !incomplete.has(name)));
  return [...notes].flatMap(([table, known]) => {
    if (isOfOneKind(known)) return [];
    const others = [...known.days.values()].map(({ chain }) => chain).filter((chain) => !written.has(chain));
    return [{ table, chains: [...new Set(others)] }];
  });
}

function notesOf(notes: ReadonlyMap<string, Notes>, { name }: Pick<DatasetTable, 'name'>): Notes {
  const known = notes.get(name);
  if (!known) throw new TypeError(`no notes of ${name}`);
  return known;
}

function summary(table: string, { days }: Notes, written: number): ExportedTable {
  const files = [...days.values()].flatMap(({ file }) => (file ? [file] : []));
  const sum = (of: 'rows' | 'bytes') => files.reduce((total, file) => total + file[of], 0);
  return { table, files: files.length, rows: sum('rows'), bytes: sum('bytes'), written };
}
