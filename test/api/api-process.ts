/**
 * An API in an operating system process of its own, on the Postgres and the log of a running service; its ClickHouse is empty.
 * Argument: `SecondApiOptions` as JSON.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startApi } from '../../api/server.ts';
import { openEmbeddedClickHouse } from '../../infra/clickhouse/embedded.ts';
import { migrateClickHouse } from '../../infra/clickhouse/migrate.ts';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import { connectPostgres } from '../../infra/postgres/postgres.ts';
import { createVerusdClient } from '../../infra/verusd/verusd-client.ts';
import { pageSource } from '../../web/build/page-source.ts';
import type { SecondApiOptions } from './start-second-api.ts';

const { config, databaseUrl, logFolder, servesPage, ...more }: SecondApiOptions = JSON.parse(process.argv[2] ?? '');
const logger = pino({ level: 'warn' }, pino.destination({ dest: 2, sync: true }));
const folder = mkdtempSync(join(tmpdir(), 'verustream-beside-'));
const stop = new AbortController();
const postgres = await connectPostgres({ url: databaseUrl, logger });
const clickhouse = await openEmbeddedClickHouse(folder, 'empty');
await migrateClickHouse(clickhouse);
const log = createEmbeddedEventLog({ folder: logFolder });
const clients = config.chains.map(({ name, rpc }) => {
  if (typeof rpc !== 'string') throw new TypeError(`${name} needs one daemon`);
  return [name, createVerusdClient({ rpc, chain: name, logger })] as const;
});
const api = await startApi({
  config,
  release: 'test',
  stores: { postgres, clickhouse },
  topics: createTopicReader(log),
  daemons: new Map(clients),
  logger,
  signal: stop.signal,
  ...more,
  ...(servesPage && { page: pageSource }),
});

// The channel closes when the test asks for it, and when the test process dies.
process.once('disconnect', async () => {
  await api.close();
  stop.abort();
  for (const [, client] of clients) await client.close();
  await log.close();
  await clickhouse.close();
  await postgres.close();
  rmSync(folder, { recursive: true, force: true });
  process.exit();
});
process.send?.({ port: api.port });
