/** Opens both stores, embedded or by URL, and migrates them. */
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
import { errorCode } from './system-errors.ts';

export interface Stores {
  readonly postgres: Postgres;
  readonly clickhouse: ClickHouse;
  /** Opens empty, migrated databases on the same servers; their close() drops them. */
  openScratch(): Promise<Stores>;
  close(): Promise<void>;
}

/** Opens databases of the two servers by name. */
export interface StoreServers {
  readonly connectPostgres: (database: string) => Promise<Postgres>;
  readonly openClickHouse: (database: string) => Promise<ClickHouse>;
}

const DATABASE = 'verustream';
/** SQLSTATE object_in_use. */
const IN_USE = '55006';

/** Opens and migrates the stores; closes those already opened if a later step fails. */
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
    // No retry for an address, which may be wrong until it has answered once; the embedded server is restarted when it ends.
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

/** Needs the right to create databases. First drops databases that killed processes left, because each takes as much space again. */
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
 * Drops the Postgres database last, because while it exists both databases can be found again. The connections are closed; the server
 * waits up to 5 s for them to end, and ends an autovacuum worker itself. `WITH (FORCE)` would need a superuser while such a worker is in
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
      if (errorCode(err) !== IN_USE) throw err;
      logger.warn({ err, database }, 'a database that a killed verify had left is in use; the next verify drops it');
    }
  }
}

const readName = rowReader({ name: columns.text });

/** Drops even databases without a counterpart in Postgres, because only one process can have the embedded ClickHouse open. */
async function dropLeftClickHouse(clickhouse: ClickHouse): Promise<void> {
  const rows = await clickhouse.rows(
    readName,
    'SELECT name FROM system.databases WHERE startsWith(name, {prefix:String})',
    { prefix: SCRATCH_PREFIX },
  );
  for (const { name } of rows) await clickhouse.command(`DROP DATABASE ${name}`);
}
