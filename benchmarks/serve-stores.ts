/** The API on filled stores: no daemon answers, no stage runs, and no answer is cached. */

import { pino } from 'pino';
import { type RunningApi, startApi } from '../api/server.ts';
import { createTopicReader } from '../infra/event-log/topic-reader.ts';
import type { Stores } from '../infra/stores.ts';
import { createVerusdClient } from '../infra/verusd/verusd-client.ts';
import { configOf } from '../test/api/running-service.ts';
import { chainConfig, type TestLog } from '../test/laws/replay.ts';

export interface FilledStores {
  readonly chain: string;
  readonly log: TestLog;
  readonly stores: Stores;
}

export function serveStores({ chain, log, stores }: FilledStores): Promise<RunningApi> {
  const logger = pino({ level: 'silent' });
  const nobody = createVerusdClient({ rpc: 'http://nobody:none@127.0.0.1:1', chain, logger });
  return startApi({
    config: { ...configOf([chainConfig(chain)]), port: 0 },
    release: 'benchmark',
    stores,
    topics: createTopicReader(log),
    daemons: new Map([[chain, nobody]]),
    logger,
    signal: new AbortController().signal,
    keptBytes: 0,
  });
}
