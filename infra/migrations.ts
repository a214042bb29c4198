/** The numbered SQL files of one store, and which of them it still lacks. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { PermanentError } from '../schemas/errors.ts';

export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** A migration as the store recorded it. */
export interface AppliedMigration {
  readonly name: string;
  readonly sha256: string;
}

class MigrationChanged extends PermanentError {
  constructor(name: string) {
    super(
      'migration_changed',
      `Migration ${name} differs from the one that built this database. Use the program version that built it, or an empty database.`,
    );
  }
}

/** Commands that need only Postgres never change tables, because a service of an earlier version may be using them. */
export class StoresOlder extends PermanentError {
  constructor(name: string) {
    super(
      'stores_older',
      `This database lacks migration ${name}: no service of this version has opened it yet. Start one, or use the version that runs.`,
    );
  }
}

export class StoresMigrating extends PermanentError {
  constructor(name: string) {
    super(
      'stores_migrating',
      `A service is changing this database, to migration ${name} and beyond: wait until it is done.`,
    );
  }
}

class StoresNewer extends PermanentError {
  constructor(name: string) {
    super(
      'stores_newer',
      `This database has migration ${name}, which this version does not know: a newer one has changed it. Use that version, or a backup from before.`,
    );
  }
}

/** Returns the migrations to apply, in order. @throws MigrationChanged, StoresNewer */
export async function missingMigrations(
  store: 'postgres' | 'clickhouse',
  applied: readonly AppliedMigration[],
): Promise<(Migration & AppliedMigration)[]> {
  const known = (await readMigrations(store)).map((file) => {
    return { ...file, sha256: createHash('sha256').update(file.sql).digest('hex') };
  });
  for (const { name, sha256 } of applied) {
    const file = known.find((one) => one.name === name);
    if (!file) throw new StoresNewer(name);
    if (file.sha256 !== sha256) throw new MigrationChanged(name);
  }
  return known.filter(({ name }) => !applied.some((one) => one.name === name));
}

export async function readMigrations(store: 'postgres' | 'clickhouse'): Promise<Migration[]> {
  const folder = new URL(`../schemas/${store}/`, import.meta.url);
  const names = (await readdir(folder)).filter((name) => /^\d{4}-.*\.sql$/.test(name)).sort();
  return Promise.all(names.map(async (name) => ({ name, sql: await readFile(new URL(name, folder), 'utf8') })));
}
