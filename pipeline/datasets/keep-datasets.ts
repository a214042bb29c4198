/** Keeps the served data set up to date: runs a pass at an interval until it is stopped. */
import type { Logger } from '../../infra/logger.ts';
import { pause } from '../../infra/repeat-until.ts';
import type { Stores } from '../../infra/stores.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { exportDatasets } from './export-datasets.ts';
import { openLocalFolder } from './folder.ts';
import { lockFolder } from './folder-lock.ts';
import { GRACE_MS } from './notes.ts';
import { BESIDE_SERVICE } from './pace.ts';

export interface KeepOptions {
  readonly stores: Stores;
  readonly chains: readonly ChainConfig[];
  readonly folder: string;
  readonly refreshSeconds: number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** The stages of a new process get a head start. */
const FIRST_SECONDS = 15;

/** Resolves when the signal aborts. A failed pass is tried again at the next turn; another process may keep the folder until then. */
export async function keepDatasets(options: KeepOptions): Promise<void> {
  const { refreshSeconds, logger, signal, folder } = options;
  await pause(Math.min(FIRST_SECONDS, refreshSeconds) * 1000, signal, false);
  while (!signal.aborted) {
    try {
      await pass(options);
    } catch (err) {
      if (signal.aborted) return;
      logger.warn(
        { err, folder },
        'the data set could not be brought up to date; it stays as it is until the next turn',
      );
    }
    await pause(refreshSeconds * 1000, signal, false);
  }
}

async function pass({ stores, chains, folder: path, logger, signal }: KeepOptions): Promise<void> {
  const lock = lockFolder(path);
  if (!lock) {
    logger.debug({ folder: path }, 'another process writes the data set');
    return;
  }
  try {
    const folder = await openLocalFolder(path);
    const of = { stores, chains, tables: DATASET_TABLES, folder };
    const { tables, missed, withheld } = await exportDatasets({
      ...of,
      pace: BESIDE_SERVICE,
      graceMs: GRACE_MS,
      signal,
    });
    const written = tables.reduce((sum, table) => sum + table.written, 0);
    if (withheld.length > 0 && missed === 0) {
      logger.warn({ withheld, folder: path }, 'manifests of the data set wait for files of these chains');
    } else logger.debug({ written, missed }, 'the data set is up to date');
    await folder.close();
  } finally {
    lock.release();
  }
}
