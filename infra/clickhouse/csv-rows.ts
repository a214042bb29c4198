/** Rows of CSV files as a source for statements: the embedded engine reads the file, a server gets a table with its rows. */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { InsertParams } from '@clickhouse/client';
import type { Client } from './client.ts';

export interface CsvRows {
  /** Absolute path. */
  readonly file: string;
  /** Column names and types: `a String, b UInt32`. */
  readonly structure: string;
}

/** Creates and drops tables of a server; a table is known by its name. */
interface CsvTables {
  create(csv: CsvRows): Promise<string>;
  drop(table: string): Promise<void>;
}

export const isPlainPath = (path: string): boolean => !/[*?{}\\'\n]/.test(path);

export function quotedPath(path: string): string {
  if (!isPlainPath(path)) throw new TypeError(`ClickHouse would read ${path} as a pattern`);
  return `'${path}'`;
}

/** The table function that the embedded engine reads the file with. */
export const csvSource = ({ file, structure }: CsvRows): string =>
  `file(${quotedPath(file)}, 'CSV', '${structure.replaceAll("'", "\\'")}')`;

const NAME = /^dataset_rows_(\d+)_[0-9a-f]{16}$/;
/** Longer than any statement takes, so a killed process must have left any older table. */
const LEFT_SECONDS = 6 * 3600;

/** Creates a table with the rows on a server and returns its name. `request` is for the insert, which a prior abort of `signal` prevents. */
export async function createCsvTable(
  client: Client,
  { file, structure }: CsvRows,
  request: Pick<InsertParams, 'query_id' | 'abort_signal'>,
  signal?: AbortSignal,
): Promise<string> {
  const now = await dropLeftTables(client);
  const table = `dataset_rows_${now}_${randomBytes(8).toString('hex')}`;
  try {
    await client.command({ query: `CREATE TABLE ${table} (${structure}) ENGINE = MergeTree ORDER BY tuple()` });
    signal?.throwIfAborted();
    await client.insert({ table, values: createReadStream(file), format: 'CSV', ...request });
    return table;
  } catch (error) {
    await dropCsvTable(client, table);
    throw error;
  }
}

/** Drops tables by the time in their names (not every version stores it) and returns the server's time in seconds. */
async function dropLeftTables(client: Client): Promise<number> {
  const result = await client.query({
    query: `SELECT toUnixTimestamp(now()) AS now, groupArray(name) AS names FROM system.tables
      WHERE database = currentDatabase() AND startsWith(name, 'dataset_rows_')`,
    format: 'JSONEachRow',
  });
  const [{ now, names } = { now: 0, names: [] }] = await result.json<{ now: number; names: readonly string[] }>();
  const left = names.filter((name) => Number(NAME.exec(name)?.[1] ?? now) < now - LEFT_SECONDS);
  for (const name of left) await dropCsvTable(client, name);
  return now;
}

export async function dropCsvTable(client: Client, table: string): Promise<void> {
  await client.command({ query: `DROP TABLE IF EXISTS ${table}` });
}

/** Calls `work` with a FROM source for each file; drops the tables of a server afterwards. */
export async function withCsvRows<T>(
  files: readonly CsvRows[],
  isEmbedded: boolean,
  work: (sources: readonly string[]) => Promise<T>,
  server: CsvTables,
): Promise<T> {
  if (isEmbedded) return work(files.map(csvSource));
  const tables: string[] = [];
  try {
    for (const csv of files) tables.push(await server.create(csv));
    return await work(tables);
  } finally {
    for (const table of tables) await server.drop(table);
  }
}
