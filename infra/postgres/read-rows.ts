/** Runs statements on a pool, or in a transaction, and parses each row by a reader. docs/decisions/0051-schemas-give-types.md */
import type pg from 'pg';
import type { RowReader, StoredRow } from '../row-reader.ts';

/** A pool, or a client of one. */
export interface Queryable {
  query(statement: string | pg.QueryConfig, values?: unknown[]): Promise<{ readonly rows: StoredRow[] }>;
}

/** @throws TypeError for a row that the reader refuses */
export async function readRows<Row>(
  source: Queryable,
  reader: RowReader<Row>,
  statement: string | pg.QueryConfig,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return (await source.query(statement, [...values])).rows.map(reader);
}

/** Returns the first row, or undefined. */
export async function readRow<Row>(...asked: Parameters<typeof readRows<Row>>): Promise<Row | undefined> {
  return (await readRows(...asked))[0];
}

/** A reader and a statement without values. */
type ReadStatement<Row> = readonly [RowReader<Row>, string];

/** Returns the rows of two statements sent in one message: one round trip and one transaction. */
export async function readBoth<First, Second>(
  source: Queryable,
  [readFirst, first]: ReadStatement<First>,
  [readSecond, second]: ReadStatement<Second>,
): Promise<[First[], Second[]]> {
  // Two statements in one message return two results, which the declared type does not cover.
  const results = (await source.query(`${first}; ${second}`)) as unknown as readonly { readonly rows: StoredRow[] }[];
  return [(results[0]?.rows ?? []).map(readFirst), (results[1]?.rows ?? []).map(readSecond)];
}
