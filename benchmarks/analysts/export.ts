/** The export of the data set, against ClickHouse writing the same files by itself. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CsvRows } from '../../infra/clickhouse/csv-rows.ts';
import type { Stores } from '../../infra/stores.ts';
import { copiedRowsOf, copyOut } from '../../pipeline/datasets/copied-rows.ts';
import { type ExportOptions, type ExportOutcome, exportDatasets } from '../../pipeline/datasets/export-datasets.ts';
import { type ChainDay, readExportState } from '../../pipeline/datasets/export-state.ts';
import { openLocalFolder } from '../../pipeline/datasets/folder.ts';
import { GRACE_MS } from '../../pipeline/datasets/notes.ts';
import { ALONE } from '../../pipeline/datasets/pace.ts';
import { daySelect, paramsOf } from '../../pipeline/datasets/select-day.ts';
import type { Config } from '../../schemas/config.ts';
import type { DatasetTable } from '../../schemas/datasets/table.ts';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';

/** Tables whose rows ClickHouse can write by itself. */
export const OWN_TABLES: readonly DatasetTable[] = DATASET_TABLES.filter(
  ({ name, store }) => store !== 'postgres' && name !== 'transactions' && name !== 'identity_states',
);

export interface ExportRun {
  readonly stores: Stores;
  readonly chains: Config['chains'];
  readonly signal: AbortSignal;
}

/** Exports into an existing folder; files of an earlier pass stay. */
export async function exportInto(
  folder: string,
  run: ExportRun,
  { tables = DATASET_TABLES, pace = ALONE }: Partial<Pick<ExportOptions, 'tables' | 'pace'>> = {},
): Promise<ExportOutcome> {
  const opened = await openLocalFolder(folder);
  const outcome = await exportDatasets({ ...run, tables, folder: opened, pace, graceMs: GRACE_MS });
  await opened.close();
  return outcome;
}

export interface TimedExport {
  readonly rows: number;
  readonly seconds: number;
}

/** Times one pass over these tables into a new folder. */
export async function timeExport(run: ExportRun, tables: readonly DatasetTable[]): Promise<TimedExport> {
  return inFolder(async (folder) => {
    const began = performance.now();
    const exported = await exportInto(folder, run, { tables });
    const seconds = (performance.now() - began) / 1000;
    return { rows: exported.tables.reduce((sum, table) => sum + table.rows, 0), seconds };
  });
}

/**
 * Writes the same files with the same concurrency, by the statements alone. Data that only Postgres has is copied before; nothing is hashed
 * or synced, and there is no manifest.
 */
export async function timeBare({ stores, chains, signal }: ExportRun, table: DatasetTable): Promise<TimedExport> {
  if (table.store === 'postgres') throw new TypeError(`${table.name} is not ClickHouse's`);
  const { days, priced } = await readExportState(stores, chains);
  return inFolder(async (folder) => {
    const copies = new Map<ChainDay, CsvRows>();
    const client = await stores.postgres.pool.connect();
    for (const day of days) {
      const rows = copiedRowsOf(table, day, priced, true);
      if (rows) copies.set(day, await copyOut(client, rows, folder, signal));
    }
    client.release();
    const began = performance.now();
    const queue = days.values();
    const work = async () => {
      for (const day of queue) {
        const csv = copies.get(day);
        await stores.clickhouse.parquet({
          select: (rows) => daySelect(table, priced, true, rows),
          params: paramsOf(day),
          file: join(folder, `${day.chain}-${day.day}.parquet`),
          ...(csv && { csv }),
          bounds: { max_threads: ALONE.threads },
        });
      }
    };
    await Promise.all(Array.from({ length: ALONE.atOnce }, work));
    const seconds = (performance.now() - began) / 1000;
    const [row] = await stores.clickhouse.query(`SELECT count() AS n FROM file('${folder}/*.parquet', 'Parquet')`);
    return { rows: Number(row?.n), seconds };
  });
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'verustream-bench-'));
  await mkdir(folder, { recursive: true });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
