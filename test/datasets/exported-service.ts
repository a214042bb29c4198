/** A service on the recording, with its data set in a folder of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ExportOutcome, exportDatasets } from '../../pipeline/datasets/export-datasets.ts';
import { openLocalFolder } from '../../pipeline/datasets/folder.ts';
import { GRACE_MS } from '../../pipeline/datasets/notes.ts';
import { ALONE } from '../../pipeline/datasets/pace.ts';
import type { Config } from '../../schemas/config.ts';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { type RunningService, startService } from '../api/running-service.ts';

export interface ExportedService extends RunningService {
  readonly folder: string;
  /** A pass of the export over what is there. */
  exported(): Promise<ExportOutcome>;
}

export async function startExportedService(
  options: Parameters<typeof startService>[0] & { readonly datasets?: Partial<Config['datasets']> } = {},
): Promise<ExportedService> {
  const folder = await mkdtemp(join(tmpdir(), 'verustream-datasets-'));
  const { datasets, ...rest } = options;
  const service = await startService({
    ...rest,
    datasets: { folder, refreshSeconds: 0, bytesPerHour: 1e12, url: null, ...datasets },
  });
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
