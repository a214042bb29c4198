/** Applies the numbered files of schemas/postgres once each, in order, under a lock. A file that has landed is never edited. */
import type { Logger } from '../logger.ts';
import { missingMigrations, StoresMigrating, StoresOlder } from '../migrations.ts';
import { columns, rowReader } from '../row-reader.ts';
import { withProgress } from './migration-progress.ts';
import type { Postgres } from './postgres.ts';
import { readRow, readRows } from './read-rows.ts';

const LOCK = 7_381_402_911; // an arbitrary constant: one migration at a time in a database

const readMigration = rowReader({ name: columns.text, sha256: columns.text });
const readLocked = rowReader({ locked: columns.boolean });
const readFound = rowReader({ found: columns.boolean });
const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock($1) AS locked';
const APPLIED = 'SELECT name, sha256 FROM migrations';

/** Applies the missing migrations. While existing tables change, logs the progress every ten seconds. */
export async function migratePostgres(postgres: Postgres, logger: Logger): Promise<void> {
  await postgres.transaction(async (client) => {
    const locked = await readRow(client, readLocked, TRY_LOCK, [LOCK]);
    if (!locked?.locked) {
      logger.info('another process migrates the database; waiting for it');
      await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    }
    await client.query('CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, sha256 text NOT NULL)');
    const rows = await readRows(client, readMigration, APPLIED);
    for (const { name, sql, sha256 } of await missingMigrations('postgres', rows)) {
      const change = () => client.query(sql);
      await (rows.length === 0 ? change() : withProgress(postgres, client, name, logger, change));
      await client.query('INSERT INTO migrations VALUES ($1, $2)', [name, sha256]);
    }
  });
}

/** @throws StoresOlder, StoresMigrating, StoresNewer, MigrationChanged */
export async function checkMigrated({ pool }: Postgres): Promise<void> {
  const table = await readRow(pool, readFound, "SELECT to_regclass('migrations') IS NOT NULL AS found");
  const applied = table?.found ? await readRows(pool, readMigration, APPLIED) : [];
  const [missing] = await missingMigrations('postgres', applied);
  if (!missing) return;
  const locked = await readRow(pool, readLocked, TRY_LOCK, [LOCK]);
  throw locked?.locked ? new StoresOlder(missing.name) : new StoresMigrating(missing.name);
}
