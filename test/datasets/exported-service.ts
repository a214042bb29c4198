/** A service with its data set in its own folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ExportOutcome, exportDatasets } from '../../pipeline/datasets/export-datasets.ts';
import { openLocalFolder } from '../../pipeline/datasets/folder.ts';
import { GRACE_MS } from '../../pipeline/datasets/notes.ts';
import { ALONE } from '../../pipeline/datasets/pace.ts';
import type { Config } from '../../schemas/config.ts';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { type PairedService, startPairedService } from '../api/paired-service.ts';
import { NATIVE, type RunningService, startService, startServiceOn } from '../api/running-service.ts';
import { type ChainDaemon, startChainDaemon } from '../generator/chain-daemon.ts';
import { EVERYTHING } from '../generator/mixes.ts';
import { SEED } from '../setup/seed.ts';
import type { DuckDb } from '../support/datasets/duckdb.ts';

export interface Exported {
  readonly folder: string;
  /** Runs one pass of the export. */
  exported(): Promise<ExportOutcome>;
}
export type ExportedService = RunningService & Exported;
export type GeneratedService = RunningService<ChainDaemon> & Exported;

interface DatasetOptions {
  readonly datasets?: Partial<Config['datasets']>;
}

/** An exported service shared by several test modules, and the DuckDB that reads it. */
export interface OpenedDataset {
  readonly service: ExportedService;
  readonly duckdb: DuckDb;
}

/** Starts a service on the recording. */
export async function startExportedService({
  datasets,
  ...options
}: Omit<NonNullable<Parameters<typeof startService>[0]>, 'datasets'> & DatasetOptions = {}): Promise<ExportedService> {
  const folder = await newFolder();
  return withExport(await startService({ ...options, datasets: settings(folder, datasets) }), folder);
}

/** Starts a service on a generated chain with every kind of transaction, whose native coin is worth a dollar. */
export async function startGeneratedService(blocks: number, transactions: number): Promise<GeneratedService> {
  const folder = await newFolder();
  const node = await startChainDaemon({ seed: SEED, addresses: 30, transactions, mix: EVERYTHING }, blocks);
  const chain = { stableAnchors: [NATIVE], minBasketAge: 2 };
  return withExport(await startServiceOn(node, { chain, datasets: settings(folder) }), folder);
}

/** Starts a service on the recording of two chains. */
export async function exportedPair(): Promise<PairedService & Exported> {
  const folder = await newFolder();
  return withExport(await startPairedService({ datasets: settings(folder) }), folder);
}

const newFolder = () => mkdtemp(join(tmpdir(), 'verustream-datasets-'));

const settings = (folder: string, more: DatasetOptions['datasets'] = {}): Config['datasets'] => {
  return { folder, refreshSeconds: 0, bytesPerHour: 1e12, url: null, ...more };
};

function withExport<S extends Pick<RunningService, 'context' | 'stop'>>(service: S, folder: string): S & Exported {
  const stop = new AbortController();
  return Object.assign(Object.create(service, Object.getOwnPropertyDescriptors(service)), {
    folder,
    async exported() {
      const { stores, config } = service.context;
      const local = await openLocalFolder(folder);
      const of = { stores, chains: config.chains, tables: DATASET_TABLES, folder: local };
      return exportDatasets({ ...of, pace: ALONE, graceMs: GRACE_MS, signal: stop.signal });
    },
    async stop() {
      stop.abort();
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  });
}
