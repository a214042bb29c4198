/** `export`: writes the data set to a folder or a bucket, or brings it up to date. */
import { realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute } from 'node:path';
import { parseUtc } from '../domain/time.ts';
import { isPlainPath } from '../infra/clickhouse/csv-rows.ts';
import { postgresTrouble } from '../infra/postgres/postgres-errors.ts';
import { sqliteCode } from '../infra/sqlite-errors.ts';
import { isSystemError } from '../infra/system-errors.ts';
import {
  type DayRange,
  type ExportedTable,
  type ExportOutcome,
  exportDatasets,
  type WithheldTable,
} from '../pipeline/datasets/export-datasets.ts';
import type { ExportProgress } from '../pipeline/datasets/export-progress.ts';
import { type DatasetFolder, nullIfMissing, openLocalFolder } from '../pipeline/datasets/folder.ts';
import { lockFolder } from '../pipeline/datasets/folder-lock.ts';
import { GRACE_MS } from '../pipeline/datasets/notes.ts';
import { ALONE, BESIDE_SERVICE } from '../pipeline/datasets/pace.ts';
import { openS3Folder } from '../pipeline/datasets/s3-folder.ts';
import { type Config, datasetsFolder } from '../schemas/config.ts';
import { DATASET_TABLES, datasetTable } from '../schemas/datasets/tables.ts';
import { PermanentError, UsageError } from '../schemas/errors.ts';
import { configuredChain, namesIn } from './arguments.ts';
import type { CommandOutcome, Output, StoreContext } from './command.ts';
import type { InputOf } from './command-table.ts';
import { createPacing, timeLeft } from './progress-line.ts';

const PROGRESS_MS = 1_000;
/** Repeats the pass for days that changed while they were written. */
const MOST_PASSES = 3;
const DAY = /^\d{4}-\d\d-\d\d$/;
const S3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;

interface Destination {
  readonly folder: DatasetFolder;
  /** How long to keep a file that is no longer in the manifest. */
  readonly graceMs: number;
  release(): void;
}

class ExportUnwritable extends PermanentError {
  constructor(folder: string, cause: Error) {
    super(
      'export_unwritable',
      `Files of the export cannot be written into ${folder}: ${cause.message}. Free space or make it writable; the same command continues.`,
      { cause },
    );
  }
}

/** @throws UsageError, PermanentError export_busy, export_withheld, export_unwritable */
export async function run(
  { config, stores, signal, isServing = false }: Pick<StoreContext, 'config' | 'stores' | 'signal' | 'isServing'>,
  { destination, tables: names, chains: chainNames, from, to, endpoint }: InputOf<'export'>,
  output: Output,
): Promise<CommandOutcome> {
  const tables = names === undefined ? DATASET_TABLES : namesIn(names).map(tableNamed);
  const chains =
    chainNames === undefined ? config.chains : namesIn(chainNames).map((name) => configuredChain(config, name));
  const addedDays = daysIn(from, to);
  const keptChains = config.chains.filter((chain) => !chains.includes(chain)).map(({ name }) => name);
  const unwritten = (error: unknown) => unwritable(error, destination);
  const { folder, graceMs, release } = await open(config, destination, endpoint, signal).catch(unwritten);
  const pace = isServing ? BESIDE_SERVICE : ALONE;
  let rss = 0;
  const progress = reporter(output, () => {
    rss = Math.max(rss, process.memoryUsage.rss());
  });
  const started = performance.now();
  try {
    const outcome = await passes(() =>
      exportDatasets({ stores, chains, keptChains, tables, addedDays, folder, pace, graceMs, signal, progress }),
    );
    for (const table of outcome.tables) output.line(described(table));
    if (outcome.withheld.length > 0) throw withheldError(outcome.withheld);
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    const peakMemoryBytes = Math.max(rss, process.memoryUsage.rss());
    output.line(
      `${folder.name} is up to date after ${seconds} s; this process took up to ${Math.ceil(peakMemoryBytes / 1e6)} MB of memory.`,
    );
    return { exitCode: 0, state: { destination: folder.name, tables: outcome.tables, seconds, peakMemoryBytes } };
  } catch (error) {
    if (!signal.aborted) return unwritable(error, destination);
    throw new PermanentError(
      'export_stopped',
      'The export was stopped. All files in the manifests are complete; the same command continues.',
    );
  } finally {
    await folder.close();
    release();
  }
}

async function passes(pass: () => Promise<ExportOutcome>): Promise<ExportOutcome> {
  for (let count = 1; ; count++) {
    const outcome = await pass();
    if (outcome.missed === 0) return outcome;
    if (count === MOST_PASSES) {
      throw new PermanentError(
        'export_overtaken',
        `${outcome.missed} days changed while they were written, again and again: export later.`,
      );
    }
  }
}

function withheldError(withheld: readonly WithheldTable[]): PermanentError {
  const tables = withheld.map(({ table }) => table).join(', ');
  const chains = [...new Set(withheld.flatMap((table) => table.chains))].join(', ');
  return new PermanentError(
    'export_withheld',
    `The manifests of ${tables} stay as they were: files of ${chains}, which were not written, are of another generation or have other columns. ` +
      'Export all chains; if a redrive is deriving one of them again, export when it is done.',
  );
}

async function open(
  config: Config,
  destination: string,
  endpoint: string | undefined,
  signal: AbortSignal,
): Promise<Destination> {
  const [, bucket, prefix = ''] = S3.exec(destination) ?? [];
  if (bucket !== undefined) {
    const at = endpoint ?? process.env.AWS_ENDPOINT_URL ?? null;
    if (at !== null && !/^https?:\/\/[^\s/?#]+$/.test(at))
      throw new UsageError(`"${at}" is not an endpoint; allowed is http(s)://host`);
    const address = { bucket, prefix: prefix.replace(/\/+$/, ''), endpoint: at, environment: process.env, signal };
    return { folder: await openS3Folder(address), graceMs: 0, release: () => undefined };
  }
  if (endpoint !== undefined) throw new UsageError('--endpoint goes with an address s3://bucket/prefix');
  if (!isAbsolute(destination) || !isPlainPath(destination)) {
    throw new UsageError(
      `"${destination}" is not a destination; allowed is an absolute path without * ? { } \\ or a quote, or s3://bucket/prefix`,
    );
  }
  const lock = lockFolder(destination);
  if (!lock)
    throw new PermanentError(
      'export_busy',
      `Another process writes ${destination}: wait for it, or choose another folder.`,
    );
  try {
    const served = await realpath(datasetsFolder(config)).catch(nullIfMissing);
    const isServed = (await realpath(destination)) === served;
    return { folder: await openLocalFolder(destination), graceMs: isServed ? GRACE_MS : 0, release: lock.release };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Throws the error, as ExportUnwritable if it is of the file system: a lost connection to Postgres is a system error too. */
function unwritable(error: unknown, destination: string): never {
  const isOfFiles = (isSystemError(error) || sqliteCode(error) !== null) && !postgresTrouble(error);
  if (!isOfFiles || !(error instanceof Error)) throw error;
  throw new ExportUnwritable(S3.test(destination) ? tmpdir() : destination, error);
}

function tableNamed(name: string) {
  const table = datasetTable(name);
  if (table) return table;
  throw new UsageError(`there is no table "${name}"; allowed are ${DATASET_TABLES.map((one) => one.name).join(', ')}`);
}

function daysIn(from: string | undefined, to: string | undefined): DayRange {
  const range = { from: dayOf('--from', from), to: dayOf('--to', to) };
  if (range.from === null || range.to === null || range.from < range.to) return range;
  throw new UsageError(`--from ${from} is not before --to ${to}; the range ends before --to`);
}

function dayOf(option: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  if (DAY.test(text) && !Number.isNaN(parseUtc(text))) return text;
  throw new UsageError(`${option} takes a UTC day such as 2026-05-01, not "${text}"`);
}

function reporter({ progress }: Output, each: () => void) {
  const isDue = createPacing({ everyMs: PROGRESS_MS });
  return ({ table, done, total, rows, rowsPerSecond, etaSeconds }: ExportProgress): void => {
    each();
    if (!isDue() && done < total) return;
    const speed = `${Math.round(rowsPerSecond)} rows/s${timeLeft(etaSeconds)}`;
    progress(`${done} of ${total} files  ${table}  ${rows} rows, ${speed}`);
  };
}

const described = ({ table, files, rows, bytes, written }: ExportedTable): string =>
  `${table}: ${rows} rows in ${files} files, ${(bytes / 1e6).toFixed(1)} MB; ${written} files written`;
