/** Rows from elsewhere as a source of statements: the embedded engine reads their file, a server gets a table of their own. */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { InsertParams } from '@clickhouse/client';
import type { Client } from './client.ts';

/** A CSV file. */
export interface CsvRows {
  /** Absolute. */
  readonly file: string;
  /** Names and types: `a String, b UInt32`. */
  readonly structure: string;
}

/** Tables of a server, by name. */
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
/** Longer than any statement, so that what is older was left by a killed process. */
const LEFT_SECONDS = 6 * 3600;

/** A table of a server; → its name. `request`: with what the rows are sent, unless `signal` has aborted before. */
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

/** Their names say when they were made: not every version knows it of its tables. → the server's time in seconds */
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

/** `work` is given the sources; tables of a server are dropped afterwards. */
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
