/** Rows of the data set, the stores and the API in one form: each value as text, by the declared type of its column. */
import type { DatasetTable } from '../../../schemas/datasets/table.ts';
import type { DuckDb } from './duckdb.ts';

export type PlainRow = Readonly<Record<string, string | null>>;
type Columns = Pick<DatasetTable, 'columns'>;

const NULLABLE = /^Nullable\((.*)\)$/;
const ARRAY = /^Array\((.*)\)$/;
/** Decimal places of a USD value. */
const PLACES = 18;
/** Most digits before the decimal point. */
const WHOLE_DIGITS = 20;

export const isTime = ({ type }: DatasetTable['columns'][number]): boolean => type.includes('DateTime');

/** Times are seconds since the epoch. */
export function plainRow({ columns }: Columns, row: Readonly<Record<string, unknown>>): PlainRow {
  return Object.fromEntries(
    columns.map(({ name, type }) => {
      if (row[name] === undefined) throw new TypeError(`the row has no ${name}: ${Object.keys(row)}`);
      return [name, plainValue(type, row[name])];
    }),
  );
}

export function plainValue(type: string, value: unknown): string | null {
  const inner = NULLABLE.exec(type)?.[1];
  // ClickHouse stores no null in a text column.
  if (value === null || (inner === 'String' && value === '')) return null;
  const base = inner ?? type;
  const element = ARRAY.exec(base)?.[1];
  if (element !== undefined) return JSON.stringify((value as unknown[]).map((one) => plainValue(element, one)));
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (base === 'String') return String(value);
  if (base === 'Bool') return String(Boolean(value));
  if (base === 'Float64') return String(Number(value));
  if (base.startsWith('Decimal')) return cut(String(value));
  return BigInt(value as string | number | bigint).toString();
}

/** Returns null for a value that does not fit into the data set. */
function cut(decimal: string): string | null {
  const [whole = '0', fraction = ''] = decimal.split('.');
  if (whole.replace('-', '').length > WHOLE_DIGITS) return null;
  return `${whole}.${fraction.slice(0, PLACES).padEnd(PLACES, '0')}`;
}

/** Identifies a row within its table. */
export const keyOf = ({ order }: Pick<DatasetTable, 'order'>, row: PlainRow): string =>
  [row.chain, ...order.map((name) => row[name])].join(' ');

/** At most `most` randomly chosen rows of a table, read by DuckDB over HTTP. */
export async function fetchedRows(
  duckdb: DuckDb,
  host: string,
  table: DatasetTable,
  { most, seed }: { readonly most: number; readonly seed: number },
): Promise<PlainRow[]> {
  await duckdb.rows(
    `SET VARIABLE files = (SELECT list(url) FROM read_json('${host}/api/datasets/${table.name}.json', columns = {url: 'VARCHAR'}))`,
  );
  const [named] = await duckdb.rows(`SELECT len(getvariable('files')) AS n`);
  if (Number(named?.n ?? 0) === 0) return [];
  const columns = table.columns
    .map((column) => (isTime(column) ? `epoch(${column.name})::BIGINT AS ${column.name}` : column.name))
    .join(', ');
  const rows = await duckdb.rows(
    `SELECT ${columns} FROM read_parquet(getvariable('files'), hive_partitioning = false)
     USING SAMPLE reservoir(${most} ROWS) REPEATABLE (${seed})`,
  );
  return rows.map((row) => plainRow(table, row));
}
