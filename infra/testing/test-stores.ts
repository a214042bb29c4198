/** Fresh, migrated stores for a test: the real engines, started once a process; each call gets databases of its own. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
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
let template: Promise<void> | null = null;

/** `close()` also drops the database of ClickHouse; that of Postgres goes with the folder. */
export async function createTestStores(): Promise<TestStores> {
  folder ??= mkdtempSync(join(tmpdir(), 'verustream-test-'));
  server ??= startServer(folder);
  const embedded = await server;
  const name = `test_${randomBytes(6).toString('hex')}`;
  const databaseUrl = embedded.urlOf(name);
  const clickhouseFolder = join(folder, 'clickhouse');
  const clickhouse = await openEmbeddedClickHouse(clickhouseFolder, name);
  template ??= createTemplate(embedded, clickhouseFolder);
  await template;
  await embedded.createDatabase(name, 'template');
  await copyClickHouse(clickhouse, name);
  const postgres = await connectPostgres({ url: databaseUrl, logger });
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

/** Migrated once a process, since a copy takes a third less. */
async function createTemplate(embedded: EmbeddedPostgres, clickhouseFolder: string): Promise<void> {
  await embedded.createDatabase('template');
  const postgres = await connectPostgres({ url: embedded.urlOf('template'), logger });
  await migratePostgres(postgres);
  await postgres.close();
  const clickhouse = await openEmbeddedClickHouse(clickhouseFolder, 'template');
  await migrateClickHouse(clickhouse);
  await clickhouse.close();
}

async function copyClickHouse(clickhouse: ClickHouse, name: string): Promise<void> {
  // What is in memory belongs to a connection: the one that ran a statement last runs the next.
  await clickhouse.command("BACKUP DATABASE template TO Memory('template')");
  await clickhouse.command(`RESTORE DATABASE template AS ${name} FROM Memory('template')`);
}

/** Ended, and its folder removed, when the process exits; the runner ends it by SIGTERM. */
async function startServer(path: string): Promise<EmbeddedPostgres> {
  const started = await startEmbeddedPostgres(join(path, 'postgres'), logger);
  process.once('SIGTERM', () => process.exit());
  process.once('exit', () => rmSync(path, { recursive: true, force: true, maxRetries: 10 }));
  return started;
}
