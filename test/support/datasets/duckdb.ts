/** DuckDB with its httpfs extension, which comes as a Python package of the same version: no other server is asked for it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';

const PACKAGE = 'duckdb-ext-httpfs==1.4.4.20260205';
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/duckdb/', import.meta.url));
const EXTENSION = `${CACHE}${PACKAGE}/duckdb_ext/extensions/v1.4.4/linux_amd64/httpfs.duckdb_extension`;

export interface DuckDb {
  /** Rows of the last of the statements; integers beyond 2^53 and decimals are text. */
  rows(sql: string): Promise<Record<string, unknown>[]>;
  close(): void;
}

export async function openDuckDb(): Promise<DuckDb> {
  if (!existsSync(EXTENSION)) fetchExtension();
  const instance = await DuckDBInstance.create(':memory:', { allow_unsigned_extensions: 'true' });
  const connection = await instance.connect();
  await connection.run(`LOAD '${EXTENSION}'`);
  return {
    async rows(sql) {
      const reader = await connection.runAndReadAll(sql);
      return reader.getRowObjectsJson();
    },
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** Into a folder of its own first, so that a run that is cut leaves nothing half. */
function fetchExtension(): void {
  mkdirSync(CACHE, { recursive: true });
  const folder = `${CACHE}fetching-${process.pid}`;
  const flags = ['--quiet', '--no-deps', '--disable-pip-version-check', '--root-user-action=ignore'];
  execFileSync('python3', ['-m', 'pip', 'install', ...flags, '--target', folder, PACKAGE], { stdio: 'inherit' });
  if (!existsSync(`${CACHE}${PACKAGE}`)) renameSync(folder, `${CACHE}${PACKAGE}`);
}
