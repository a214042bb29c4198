/**
 * Expected rows of a table of the data set, read from the stores without the data set's own statements: whole rows of the tables, and
 * conversions from Postgres, of which the data set reads only a part there.
 */
import type { Stores } from '../../../infra/stores.ts';
import type { CopiedTable, DatasetTable } from '../../../schemas/datasets/table.ts';
import { isTime, keyOf, type PlainRow, plainRow } from './plain-rows.ts';

type Raw = Readonly<Record<string, unknown>>;

/** Rows by their keys. Requires that no row is provisional. */
export async function storedRows(stores: Stores, table: DatasetTable): Promise<ReadonlyMap<string, PlainRow>> {
  const rows = (await rawRows(stores, table)).map((row) => plainRow(table, row));
  return new Map(rows.map((row) => [keyOf(table, row), row]));
}

async function rawRows({ clickhouse, postgres: { pool } }: Stores, table: DatasetTable): Promise<readonly Raw[]> {
  const rows = async (sql: string): Promise<Raw[]> => (await pool.query<Record<string, unknown>>(sql)).rows;
  if (table.store === 'postgres') return rows(ofPostgres(table));
  if (table.name === 'conversions') return rows(CONVERSIONS);
  const times = table.columns.filter(isTime).map(({ name }) => `toUnixTimestamp(${name}) AS ${name}`);
  const select = `SELECT * REPLACE (${times.join(', ')})`;
  if (table.store === 'clickhouse') return clickhouse.query(`${select} FROM ${table.table}`);
  const [served] = await rows('SELECT generation FROM generations WHERE served');
  return clickhouse.query(
    `${select}, false AS provisional FROM ${table.table} WHERE generation = ${Number(served?.generation)}`,
  );
}

const ofPostgres = ({ table, height, where }: CopiedTable): string =>
  `SELECT r.*, r.${height} AS height, b.time FROM ${table} r JOIN blocks b ON b.chain = r.chain AND b.height = r.${height} WHERE ${where}`;

const STAMP_COLUMNS = [
  ...['generation', 'from_usd', 'to_usd', 'usd_value', 'rule', 'regime', 'reason'],
  ...['priced_currency_id', 'priced_currency_usd', 'price_basket', 'price_height', 'regime_version'],
];

const CONVERSIONS = `SELECT t.chain, t.import_height AS height, t.import_time AS time, t.txid, t.vout, t.kind, t.status, t.from_currency_id,
    t.to_currency_id, t.via_currency_id, t.import_currency_id AS basket_id, t.amount_in, t.amount_out, t.conversion_fee, t.source, t.destination,
    t.request_height, s.diverged, s.provisional, ${STAMP_COLUMNS.map((name) => `s.${name}, o.${name} AS other_${name}`).join(', ')}
  FROM transfers t
  JOIN stamps s USING (chain, txid, vout) JOIN generations g ON g.generation = s.generation AND g.served
  LEFT JOIN stamps o ON (o.chain, o.txid, o.vout) = (t.chain, t.txid, t.vout) AND o.generation <> s.generation
  WHERE t.to_height IS NULL AND t.import_height IS NOT NULL`;
