/** Both stores, embedded or by URL, migrated. */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../schemas/config.ts';
import type { ClickHouse } from './clickhouse/clickhouse.ts';
import { openEmbeddedClickHouse } from './clickhouse/embedded.ts';
import { migrateClickHouse } from './clickhouse/migrate.ts';
import { connectClickHouse } from './clickhouse/server.ts';
import type { Logger } from './logger.ts';
import { type Closers, openTogether } from './open-together.ts';
import { startEmbeddedPostgres } from './postgres/embedded/embedded.ts';
import { migratePostgres } from './postgres/migrate.ts';
import { connectPostgres, type Postgres, retryWhileRecovering } from './postgres/postgres.ts';
import { readRows } from './postgres/read-rows.ts';
import { columns, rowReader } from './row-reader.ts';
import { withDatabase } from './server-address.ts';

export interface Stores {
  readonly postgres: Postgres;
  readonly clickhouse: ClickHouse;
  /** Migrated and empty databases on the same servers; their close() drops them. */
  openScratch(): Promise<Stores>;
  close(): Promise<void>;
}

/** How the databases of a pair of stores are reached, by name. */
export interface StoreServers {
  readonly connectPostgres: (database: string) => Promise<Postgres>;
  readonly openClickHouse: (database: string) => Promise<ClickHouse>;
}

const DATABASE = 'verustream';
/** Scratch databases next to the served ones; the next embedded start drops those of a killed process. */
const BESIDE = 'verustream_beside_';

/** Opens and migrates the stores; closes the opened ones if a later step fails. */
export async function openStores(
  config: Pick<Config, 'dataDir' | 'databaseUrl' | 'clickhouseUrl'>,
  logger: Logger,
): Promise<Stores> {
  return openTogether(async (closers) => {
    const url = config.databaseUrl ?? (await startPostgres(config.dataDir, logger, closers));
    const servers: StoreServers = {
      connectPostgres: (database) => connectPostgres({ url: withDatabase(url, database), logger }),
      openClickHouse: (database) =>
        config.clickhouseUrl
          ? connectClickHouse(withDatabase(config.clickhouseUrl, database), logger)
          : openEmbeddedClickHouse(join(config.dataDir, 'clickhouse'), database, logger),
    };
    const connect = () => connectPostgres({ url, logger });
    // Whether an address is right is unknown until it answers; the embedded one is restarted when it ends.
    const postgres = await (config.databaseUrl ? connect() : retryWhileRecovering(connect, logger));
    closers.push(() => postgres.close());
    const clickhouse = config.clickhouseUrl
      ? await connectClickHouse(config.clickhouseUrl, logger)
      : await servers.openClickHouse(DATABASE);
    closers.push(() => clickhouse.close());
    if (!config.databaseUrl) await retryWhileRecovering(() => dropLeftPostgres(postgres), logger);
    if (!config.clickhouseUrl) await dropLeftClickHouse(clickhouse);
    await retryWhileRecovering(() => migratePostgres(postgres, logger), logger);
    await migrateClickHouse(clickhouse);
    const served = { postgres, clickhouse };
    return { ...served, openScratch: () => openScratchStores(served, servers, logger) };
  });
}

async function startPostgres(dataDir: string, logger: Logger, closers: Closers): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const server = await startEmbeddedPostgres(join(dataDir, 'postgres'), logger);
  closers.push(() => server.stop());
  await retryWhileRecovering(() => server.createDatabase(DATABASE), logger);
  return server.urlOf(DATABASE);
}

/** Needs the right to create databases. */
export async function openScratchStores(
  served: Pick<Stores, 'postgres' | 'clickhouse'>,
  servers: StoreServers,
  logger: Logger,
): Promise<Stores> {
  const name = `${BESIDE}${randomBytes(6).toString('hex')}`;
  return openTogether(async (closers) => {
    closers.push(
      () => served.clickhouse.command(`DROP DATABASE IF EXISTS ${name}`),
      () => dropDatabase(served.postgres, name),
    );
    await served.postgres.pool.query(`CREATE DATABASE ${name}`);
    await served.clickhouse.command(`CREATE DATABASE ${name}`);
    const postgres = await servers.connectPostgres(name);
    closers.push(() => postgres.close());
    const clickhouse = await servers.openClickHouse(name);
    closers.push(() => clickhouse.close());
    await migratePostgres(postgres, logger);
    await migrateClickHouse(clickhouse);
    const fresh = { postgres, clickhouse };
    return { ...fresh, openScratch: () => openScratchStores(fresh, servers, logger) };
  });
}

const readName = rowReader({ name: columns.text });

async function dropLeftPostgres(postgres: Postgres): Promise<void> {
  const sql = 'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)';
  for (const { name } of await readRows(postgres.pool, readName, sql, [BESIDE])) await dropDatabase(postgres, name);
}

/**
 * Its connections are closed; the server waits up to 5 s for them to end, and ends an autovacuum worker itself.
 * `WITH (FORCE)` would need a superuser when such a worker is in the database.
 */
async function dropDatabase({ pool }: Postgres, name: string): Promise<void> {
  await pool.query(`DROP DATABASE IF EXISTS ${name}`);
}

async function dropLeftClickHouse(clickhouse: ClickHouse): Promise<void> {
  const rows = await clickhouse.rows(
    readName,
    'SELECT name FROM system.databases WHERE startsWith(name, {prefix:String})',
    { prefix: BESIDE },
  );
  for (const { name } of rows) await clickhouse.command(`DROP DATABASE ${name}`);
}
