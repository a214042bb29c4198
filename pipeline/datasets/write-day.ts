/** Writes one day of one table as a Parquet file, with its manifest entry. */
import { randomUUID } from 'node:crypto';
import { rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ClickHouseOverloaded } from '../../infra/clickhouse/clickhouse-errors.ts';
import type { CsvRows } from '../../infra/clickhouse/csv-rows.ts';
import { withClient } from '../../infra/postgres/postgres.ts';
import type { Stores } from '../../infra/stores.ts';
import { DATASET_SCHEMA_VERSION, type DatasetFile } from '../../schemas/datasets/manifest.ts';
import type { DatasetTable } from '../../schemas/datasets/table.ts';
import { copiedRowsOf, copyOut } from './copied-rows.ts';
import type { ChainDay, PricedState } from './export-state.ts';
import type { ExportPace } from './pace.ts';
import { readParquet } from './read-parquet.ts';
import { daySelect, paramsOf } from './select-day.ts';
import type { Turns } from './turns.ts';

export interface WrittenDay {
  /** In the scratch folder. */
  readonly file: string;
  readonly entry: Omit<DatasetFile, 'url'>;
}

export interface DayToWrite {
  readonly table: DatasetTable;
  readonly day: ChainDay;
  readonly priced: PricedState;
  readonly isClosed: boolean;
}

export interface WriteTurns {
  /** For the files that ClickHouse writes. */
  readonly write: Turns;
  /** For the rows that Postgres copies. */
  readonly copy: Turns;
}

export interface WriteBounds {
  readonly scratch: string;
  readonly pace: Pick<ExportPace, 'threads' | 'nice'>;
  readonly turns: WriteTurns;
  readonly signal: AbortSignal;
}

/** Limit for a day of one table: far more than the largest day takes. */
const LONGEST_SECONDS = 3600;
const MEMORY_BYTES = 2 ** 30;
const SORTED_IN_MEMORY_BYTES = 2 ** 28;
/** With less, a failed write was one to this disk. */
const LEAST_FREE_BYTES = 2 ** 20;
/** Digits of the hash in a file's name. */
const NAMED_DIGITS = 16;

/** Returns null for a day without rows. @throws the system's error ENOSPC when the disk of the scratch folder is full */
export async function writeDay(stores: Stores, asked: DayToWrite, bounds: WriteBounds): Promise<WrittenDay | null> {
  const { table, day, priced, isClosed } = asked;
  const file = join(bounds.scratch, `${randomUUID()}.parquet`);
  const csv = await copyDay(stores, asked, bounds);
  try {
    bounds.signal.throwIfAborted();
    await bounds.turns.write(() =>
      stores.clickhouse.parquet({
        select: (rows) => daySelect(table, priced, isClosed, rows),
        params: paramsOf(day),
        file,
        ...(csv && { csv }),
        bounds: {
          max_execution_time: LONGEST_SECONDS,
          max_threads: bounds.pace.threads,
          os_threads_nice_value_query: bounds.pace.nice,
          max_memory_usage: MEMORY_BYTES,
          max_bytes_before_external_sort: SORTED_IN_MEMORY_BYTES,
        },
      }),
    );
    return await described(asked, file);
  } catch (error) {
    const isFull = error instanceof ClickHouseOverloaded && (await hasNoRoom(bounds.scratch));
    await rm(file, { force: true });
    throw isFull ? noRoom(error) : error;
  } finally {
    if (csv) await rm(csv.file, { force: true });
  }
}

/** The embedded engine only says that a write failed, which may have been one to its own folder. */
async function hasNoRoom(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize < LEAST_FREE_BYTES;
}

const noRoom = (cause: Error): Error =>
  Object.assign(new Error('ENOSPC: no space left on device', { cause }), { code: 'ENOSPC' });

/** Copies the rows of the day that only Postgres has; returns null when ClickHouse has all rows. */
async function copyDay(
  { postgres }: Stores,
  { table, day, priced, isClosed }: DayToWrite,
  { scratch, signal, turns }: WriteBounds,
): Promise<CsvRows | null> {
  const rows = copiedRowsOf(table, day, priced, isClosed);
  return rows && turns.copy(() => withClient(postgres.pool, (client) => copyOut(client, rows, scratch, signal)));
}

async function described({ table, day, priced, isClosed }: DayToWrite, file: string): Promise<WrittenDay | null> {
  const { rows, minHeight, maxHeight, bytes, sha256 } = await readParquet(file);
  if (rows === 0) {
    await rm(file);
    return null;
  }
  const generations = table.store === 'prices' ? generationsOf(table, priced) : [];
  const named = [
    day.day,
    ...(generations.length > 0 ? [`g${generations.join('-')}`] : []),
    sha256.slice(0, NAMED_DIGITS),
  ];
  const entry = {
    table: table.name,
    chain: day.chain,
    day: day.day,
    closed: isClosed,
    schemaVersion: DATASET_SCHEMA_VERSION,
    generation: generations[0] ?? null,
    rows,
    minHeight,
    maxHeight,
    fromHeight: day.from,
    toHeight: day.to,
    bytes,
    sha256,
    path: `${table.name}/chain=${day.chain}/${named.join('.')}.parquet`,
  };
  return { file, entry };
}

/** Only the rows of conversions contain the other generation. */
export function generationsOf(table: DatasetTable, { served, other }: PricedState): number[] {
  const hasOther = table.store === 'prices' && table.other.length > 0 && other !== null;
  return hasOther ? [served.generation, other.generation] : [served.generation];
}
