/** Both stores, embedded or by URL, migrated. */
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
import { claimScratchName, leftScratchNames, SCRATCH_PREFIX } from './postgres/scratch-names.ts';
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
/** SQLSTATE. */
const IN_USE = '55006';

/** Opens and migrates the stores; closes the opened ones if a later step fails. */
export async function openStores(
  config: Pick<Config, 'dataDir' | 'databaseUrl' | 'clickhouseUrl'>,
  logger: Logger,
): Promise<Stores> {
  return openTogether(logger, async (closers) => {
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
    const served = { postgres, clickhouse };
    if (!config.databaseUrl) await retryWhileRecovering(() => dropLeftScratch(served, logger), logger);
    if (!config.clickhouseUrl) await dropLeftClickHouse(clickhouse);
    await retryWhileRecovering(() => migratePostgres(postgres, logger), logger);
    await migrateClickHouse(clickhouse);
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

type Served = Pick<Stores, 'postgres' | 'clickhouse'>;

/** Needs the right to create databases. Drops what killed processes have left, which takes as much room again. */
export async function openScratchStores(served: Served, servers: StoreServers, logger: Logger): Promise<Stores> {
  await dropLeftScratch(served, logger);
  return openTogether(logger, async (closers) => {
    const name = await claimScratchName(served.postgres, closers);
    closers.push(() => dropScratch(served, name));
    await served.postgres.pool.query(`CREATE DATABASE ${name}`);
    await served.clickhouse.command(`CREATE DATABASE ${name}`);
    const postgres = await servers.connectPostgres(name);
    closers.push(() => postgres.close());
    const clickhouse = await servers.openClickHouse(name);
    closers.push(() => clickhouse.close());
    await migratePostgres(postgres, logger);
    await migrateClickHouse(clickhouse);
    return { postgres, clickhouse, openScratch: () => openScratchStores(served, servers, logger) };
  });
}

/**
 * The database of Postgres is dropped last: while it is there, both can be found again. Connections are closed; the server waits
 * up to 5 s for them to end, and ends an autovacuum worker itself. `WITH (FORCE)` would need a superuser when such a worker is in
 * the database.
 */
async function dropScratch({ postgres, clickhouse }: Served, name: string): Promise<void> {
  await clickhouse.command(`DROP DATABASE IF EXISTS ${name}`);
  await postgres.pool.query(`DROP DATABASE IF EXISTS ${name}`);
}

async function dropLeftScratch(served: Served, logger: Logger): Promise<void> {
  for (const database of await leftScratchNames(served.postgres.pool)) {
    try {
      await dropScratch(served, database);
      logger.info({ database }, 'dropped a database that a killed verify had left');
    } catch (err) {
      if ((err as { code?: unknown } | null)?.code !== IN_USE) throw err;
      logger.warn({ err, database }, 'a database that a killed verify has left is in use: the next one drops it');
    }
  }
}

const readName = rowReader({ name: columns.text });

/** Also those that no database of Postgres names: the embedded ClickHouse is open in one process alone. */
async function dropLeftClickHouse(clickhouse: ClickHouse): Promise<void> {
  const rows = await clickhouse.rows(
    readName,
    'SELECT name FROM system.databases WHERE startsWith(name, {prefix:String})',
    { prefix: SCRATCH_PREFIX },
  );
  for (const { name } of rows) await clickhouse.command(`DROP DATABASE ${name}`);
}
