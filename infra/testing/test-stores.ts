/** Fresh, migrated stores for a test: the real engines, started once a process; each call gets databases of its own. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openEmbeddedClickHouse } from '../clickhouse/embedded.ts';
import { migrateClickHouse } from '../clickhouse/migrate.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../postgres/embedded/embedded.ts';
import { migratePostgres } from '../postgres/migrate.ts';
import { connectPostgres } from '../postgres/postgres.ts';
import { openStoresBeside, type Stores } from '../stores.ts';

export interface TestStores extends Stores {
  readonly databaseUrl: string;
}

const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
let folder: string | null = null;
let server: Promise<EmbeddedPostgres> | null = null;

/** `close()` also drops the databases. */
export async function createTestStores(): Promise<TestStores> {
  folder ??= mkdtempSync(join(tmpdir(), 'verustream-test-'));
  server ??= startServer(folder);
  const embedded = await server;
  const name = `test_${randomBytes(6).toString('hex')}`;
  await embedded.createDatabase(name);
  const databaseUrl = embedded.urlOf(name);
  const clickhouseFolder = join(folder, 'clickhouse');
  const postgres = await connectPostgres({ url: databaseUrl, logger });
  const clickhouse = await openEmbeddedClickHouse(clickhouseFolder, name);
  await migratePostgres(postgres);
  await migrateClickHouse(clickhouse);
  return {
    postgres,
    clickhouse,
    databaseUrl,
    openBeside: () =>
      openStoresBeside(
        { postgres, clickhouse },
        {
          connectPostgres: (database) => connectPostgres({ url: embedded.urlOf(database), logger }),
          openClickHouse: (database) => openEmbeddedClickHouse(clickhouseFolder, database),
        },
      ),
    async close() {
      await postgres.close();
      await clickhouse.command(`DROP DATABASE ${name}`);
      await clickhouse.close();
    },
  };
}

/** Ended, and its folder removed, when the process exits; the runner ends it by SIGTERM. */
async function startServer(path: string): Promise<EmbeddedPostgres> {
  const started = await startEmbeddedPostgres(join(path, 'postgres'), logger);
  process.once('SIGTERM', () => process.exit());
  process.once('exit', () => rmSync(path, { recursive: true, force: true, maxRetries: 10 }));
  return started;
}
