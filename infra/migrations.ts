/** The numbered SQL files of one store. */
import { readdir, readFile } from 'node:fs/promises';
import { PermanentError } from '../schemas/errors.ts';

export interface Migration {
  readonly name: string;
  readonly sql: string;
}

export class MigrationChanged extends PermanentError {
  constructor(name: string) {
    super(
      'migration_changed',
      `Migration ${name} differs from the one that built this database. Use the program version that built it, or an empty database.`,
    );
  }
}

export async function readMigrations(store: 'postgres' | 'clickhouse'): Promise<Migration[]> {
  const folder = new URL(`../schemas/${store}/`, import.meta.url);
  const names = (await readdir(folder)).filter((name) => /^\d{4}-.*\.sql$/.test(name)).sort();
  return Promise.all(names.map(async (name) => ({ name, sql: await readFile(new URL(name, folder), 'utf8') })));
}
