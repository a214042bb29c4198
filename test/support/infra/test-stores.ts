/**
 * Fresh, migrated stores for a test: the real engines (TEST_STORES=containers: servers in containers), started once per process; each call
 * creates its own databases.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ClickHouse } from '../../../infra/clickhouse/clickhouse.ts';
import { openEmbeddedClickHouse } from '../../../infra/clickhouse/embedded.ts';
import { migrateClickHouse } from '../../../infra/clickhouse/migrate.ts';
import { connectClickHouse } from '../../../infra/clickhouse/server.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../infra/postgres/embedded/embedded.ts';
import { migratePostgres } from '../../../infra/postgres/migrate.ts';
import { connectPostgres } from '../../../infra/postgres/postgres.ts';
import { openScratchStores, type Stores } from '../../../infra/stores.ts';
import { startContainerServers, wantsContainers } from './container-servers.ts';
import { openStores } from './under-way.ts';

export interface TestStores extends Stores {
  readonly databaseUrl: string;
}

/** Postgres' error code for dropping a database that has connections. */
const IN_USE = '55006';
const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });

/** The engines of the test databases: embedded ones or servers in containers. */
interface Engines {
  readonly urlOf: EmbeddedPostgres['urlOf'];
  readonly createDatabase: EmbeddedPostgres['createDatabase'];
  /** URL of a Postgres database that always exists. */
  readonly url: string;
  openClickHouse(database: string): Promise<ClickHouse>;
  /** Creates the tables of an empty database. */
  fill(clickhouse: ClickHouse, name: string): Promise<void>;
}

let engines: Promise<Engines> | null = null;
let template: Promise<void> | null = null;

/** `close()` also drops the databases. */
export async function createTestStores(): Promise<TestStores> {
  engines ??= wantsContainers() ? containerEngines() : embeddedEngines();
  const { url, urlOf, createDatabase, openClickHouse, fill } = await engines;
  const name = `test_${randomBytes(6).toString('hex')}`;
  const databaseUrl = urlOf(name);
  const clickhouse = await openClickHouse(name);
  template ??= createTemplate(await engines);
  await template;
  await createDatabase(name, 'template');
  await fill(clickhouse, name);
  const postgres = await connectPostgres({ url: databaseUrl, logger });
  const stores = { postgres, clickhouse };
  openStores.add(stores);
  return {
    postgres,
    clickhouse,
    databaseUrl,
    openScratch: () =>
      openScratchStores(
        stores,
        { connectPostgres: (database) => connectPostgres({ url: urlOf(database), logger }), openClickHouse },
        logger,
      ),
    async close() {
      openStores.delete(stores);
      await postgres.close();
      await clickhouse.command(`DROP DATABASE ${name}`);
      await clickhouse.close();
      await dropPostgres(url, name);
    },
  };
}

/** Leaves a database that still has connections; it is removed with the folder. */
async function dropPostgres(url: string, name: string): Promise<void> {
  const server = await connectPostgres({ url, logger, maxConnections: 1 });
  await server.pool.query(`DROP DATABASE ${name}`).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== IN_USE) throw error;
  });
  await server.close();
}

async function embeddedEngines(): Promise<Engines> {
  const folder = mkdtempSync(join(tmpdir(), 'verustream-test-'));
  const { url, urlOf, createDatabase } = await startServer(folder);
  const openClickHouse = (database: string) => openEmbeddedClickHouse(join(folder, 'clickhouse'), database);
  return { url, urlOf, createDatabase, openClickHouse, fill: copyClickHouse };
}

async function containerEngines(): Promise<Engines> {
  const { url, urlOf, createDatabase, clickhouseUrlOf } = await startContainerServers();
  const openClickHouse = async (database: string) => connectClickHouse(await clickhouseUrlOf(database), logger);
  return { url, urlOf, createDatabase, openClickHouse, fill: migrateClickHouse };
}

/**
 * Migrated once per process, because copying takes a third less time. Its ClickHouse connections stay open: the embedded engine ends with
 * its last connection and would start again with the next test.
 */
async function createTemplate({ urlOf, createDatabase, openClickHouse }: Engines): Promise<void> {
  await createDatabase('template');
  const postgres = await connectPostgres({ url: urlOf('template'), logger });
  await migratePostgres(postgres, logger);
  await postgres.close();
  await migrateClickHouse(await openClickHouse('template'));
}

async function copyClickHouse(clickhouse: ClickHouse, name: string): Promise<void> {
  // Memory data belongs to a connection; the connection of the last statement also runs the next one.
  await clickhouse.command("BACKUP DATABASE template TO Memory('template')");
  await clickhouse.command(`RESTORE DATABASE template AS ${name} FROM Memory('template')`);
}

/** Ends the server and removes its folder when the process exits; the test runner ends the process by SIGTERM. */
async function startServer(path: string): Promise<EmbeddedPostgres> {
  const started = await startEmbeddedPostgres(join(path, 'postgres'), logger);
  process.once('SIGTERM', () => process.exit());
  process.once('exit', () => rmSync(path, { recursive: true, force: true, maxRetries: 10 }));
  return started;
}
