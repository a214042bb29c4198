/** DuckDB with its httpfs extension, which comes from a Python package of the same version, so that no other server is needed. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { pythonPackage } from '../infra/python-packages.ts';

const PACKAGE = 'duckdb-ext-httpfs==1.4.4.20260205';
const EXTENSION = 'duckdb_ext/extensions/v1.4.4/linux_amd64/httpfs.duckdb_extension';

/** A home folder in which DuckDB finds the extension as if it had installed it. */
export function duckDbHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'verustream-duckdb-'));
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, '.duckdb/extensions/v1.4.4/linux_amd64');
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(pythonPackage(PACKAGE, { alone: true }), EXTENSION), join(folder, 'httpfs.duckdb_extension'));
  return home;
}

export interface DuckDb {
  /** Rows of the last statement; integers beyond 2^53 and decimals are text. */
  rows(sql: string): Promise<Record<string, unknown>[]>;
  close(): void;
}

export async function openDuckDb(): Promise<DuckDb> {
  const instance = await DuckDBInstance.create(':memory:', { allow_unsigned_extensions: 'true' });
  const connection = await instance.connect();
  await connection.run(`LOAD '${join(pythonPackage(PACKAGE, { alone: true }), EXTENSION)}'`);
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
