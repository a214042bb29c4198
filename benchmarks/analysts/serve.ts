/** The API on the generated history, and a folder for the data set. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startApi } from '../../api/server.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import { createVerusdClient } from '../../infra/verusd/verusd-client.ts';
import type { Config } from '../../schemas/config.ts';
import { configOf } from '../../test/api/running-service.ts';
import { chainConfig, createTestLog } from '../../test/laws/replay.ts';
import { CHAINS } from '../reprocess/made-conversions.ts';

export interface ServedHistory {
  readonly url: string;
  readonly config: Config;
  /** Folder of the data set. */
  readonly folder: string;
  close(): Promise<void>;
}

/** Serves without caching answers, so that each question is computed again. */
export async function serveHistory(stores: Stores): Promise<ServedHistory> {
  const folder = await mkdtemp(join(tmpdir(), 'verustream-bench-'));
  const chains = CHAINS.map((name) => ({ ...chainConfig(name), stableAnchors: ['i0'] }));
  const base = configOf(chains);
  const config = { ...base, cutover: 0, datasets: { ...base.datasets, folder, bytesPerHour: 1e15 } };
  const log = await createTestLog();
  const logger = pino({ level: 'silent' });
  const nobody = (chain: string) => createVerusdClient({ rpc: 'http://a:b@127.0.0.1:1', chain, logger });
  const api = await startApi({
    config,
    release: 'benchmark',
    stores,
    topics: createTopicReader(log),
    daemons: new Map(CHAINS.map((chain) => [chain, nobody(chain)])),
    logger,
    signal: new AbortController().signal,
    keptBytes: 0,
  });
  return {
    url: `http://127.0.0.1:${api.port}`,
    config,
    folder,
    async close() {
      await api.close();
      await log.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
