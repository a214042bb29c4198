/** Writes rows of a SELECT as Parquet. ClickHouse makes the file: the embedded engine on the disk, a server in its response. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type Client, settingsList } from './client.ts';
import { type CsvRows, createCsvTable, csvSource, dropCsvTable, quotedPath, withCsvRows } from './csv-rows.ts';

export interface ParquetWrite {
  /** `rows` is the FROM source for the CSV rows. */
  readonly select: (rows: string) => string;
  readonly csv?: CsvRows;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Absolute path of a file that does not exist yet. */
  readonly file: string;
  readonly bounds: Readonly<Record<string, number>>;
}

const SETTINGS = {
  output_format_parquet_compression_method: 'zstd',
  output_format_parquet_string_as_string: 1,
  join_use_nulls: 1,
  // Otherwise an alias such as `toString(chain) AS chain` would prevent the use of the primary key.
  prefer_column_name_to_alias: 1,
  input_format_csv_empty_as_default: 0,
} as const;

type Named = Readonly<Record<string, unknown>>;

/** Has the embedded engine write the file. */
export async function writeParquetHere(client: Client, write: ParquetWrite, request: Named): Promise<void> {
  const { select, csv, params, file, bounds } = write;
  await client.command({
    query: `INSERT INTO FUNCTION file(${quotedPath(file)}, 'Parquet') ${select(csv ? csvSource(csv) : '')} SETTINGS ${settingsList({ ...SETTINGS, ...bounds })}`,
    ...request,
    ...(params && { query_params: { ...params } }),
  });
}

/** Writes the response of a server to the file. CSV rows pass through a temporary table. */
export async function writeParquetThere(client: Client, write: ParquetWrite, request: Named): Promise<void> {
  const { select, csv, params, file, bounds } = write;
  const writeFrom = async ([table = '']: readonly string[]): Promise<void> => {
    const { stream } = await client.exec({
      query: `${select(table)} SETTINGS ${settingsList({ ...SETTINGS, ...bounds })} FORMAT Parquet`,
      ...request,
      ...(params && { query_params: { ...params } }),
    });
    await pipeline(stream, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  };
  await withCsvRows(csv ? [csv] : [], false, writeFrom, {
    create: (rows) => createCsvTable(client, rows, {}),
    drop: (table) => dropCsvTable(client, table),
  });
}
