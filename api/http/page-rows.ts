/** Reads the rows of one page of a list, after a place in its order or from an offset. */

import { hexParam } from '../../infra/postgres/values.ts';
import type { StoredRow } from '../../infra/row-reader.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { CursorValue } from './cursor.ts';
import type { KeyColumn, ListSource } from './list-source.ts';

export interface PlacedRow<Row> {
  readonly row: Row;
  readonly stored: StoredRow;
  /** Hash of the block that a cursor at this row depends on; read only for the first and the last row of a page, else null. */
  readonly hash: string | null;
}

/** Which rows, in which order. */
export interface RowsWanted {
  /** The key of the list, or its reverse. */
  readonly key: readonly KeyColumn[];
  /** Key of the row before the first; null to begin with the first row of the list. */
  readonly after: readonly CursorValue[] | null;
  readonly offset: number;
  /** Rows of a page; one more row is read to see whether another page follows. */
  readonly pageSize: number;
}

type Source<Row> = Pick<
  ListSource<Row, unknown>,
  'key' | 'values' | 'sql' | 'chain' | 'reader' | 'isOpenEnded' | 'pinned'
>;

const readCursorHash = rowReader({ cursor_hash: columns.nullable(columns.text) });

export async function readRows<Row>(
  read: Snapshot,
  source: Source<Row>,
  { key, after, offset, pageSize }: RowsWanted,
): Promise<PlacedRow<Row>[]> {
  const values = [...source.values];
  const order = key.map((column) => `${column.sql} ${column.order}`).join(', ');
  const place = after ? ` AND ${placeCondition(key, after, values)}` : '';
  values.push(pageSize + 1, offset, source.chain);
  const [limitAt, offsetAt, chainAt] = [values.length - 2, values.length - 1, values.length];
  const height =
    source.pinned === undefined ? `page.${source.key[0].column}` : `$${values.push(source.pinned.height)}::integer`;
  const sql =
    typeof source.sql === 'string'
      ? source.sql + place
      : await source.sql({
          sql: `${place} ORDER BY ${order} LIMIT $${limitAt}::bigint + $${offsetAt}::bigint`,
          key,
          after,
          rows: pageSize + 1 + offset,
          given: (value) => `$${values.push(value)}`,
        });
  return read.rows(
    (stored) => ({ row: source.reader(stored), stored, hash: readCursorHash(stored).cursor_hash }),
    `SELECT page.*, CASE WHEN row_number() OVER () IN (1, $${limitAt} - 1)
        THEN (SELECT hash FROM blocks WHERE chain = $${chainAt} AND height = ${height}) END AS cursor_hash
      FROM (${sql} ORDER BY ${order} LIMIT $${limitAt} OFFSET $${offsetAt}) AS page`,
    values,
    source.isOpenEnded,
  );
}

/**
 * Returns the condition for rows after `after`. When all columns have the same order the index finds the place by itself; otherwise the first
 * column bounds the scan, and the other columns are compared one by one.
 */
function placeCondition(key: readonly KeyColumn[], after: readonly CursorValue[], values: unknown[]): string {
  const places = key.map(({ kind }, index) => {
    const value = after[index] ?? '';
    values.push(kind === 'hex' ? hexParam(String(value)) : value);
    return `$${values.length}`;
  });
  const order = key[0]?.order;
  if (key.every((column) => column.order === order)) {
    return `(${key.map(({ sql }) => sql).join(', ')}) ${order === 'DESC' ? '<' : '>'} (${places.join(', ')})`;
  }
  return beyondPlace(
    key.map(({ sql, order }) => ({ sql, order })),
    places,
  );
}

/** The same condition without row comparison, for any database: `a <= $1 AND (a < $1 OR a = $1 AND b > $2)`. */
export function beyondPlace(key: readonly Pick<KeyColumn, 'sql' | 'order'>[], places: readonly string[]): string {
  const beyond = key.map(({ sql, order }, index) => {
    const equal = key.slice(0, index).map((earlier, at) => `${earlier.sql} = ${places[at]}`);
    return [...equal, `${sql} ${order === 'DESC' ? '<' : '>'} ${places[index]}`].join(' AND ');
  });
  return `${boundOf(key, places)} AND (${beyond.join(' OR ')})`;
}

/** Returns the bound on the first column alone, which an index can use. */
export function boundOf(key: readonly Pick<KeyColumn, 'sql' | 'order'>[], places: readonly string[]): string {
  const [first] = key;
  return first ? `${first.sql} ${first.order === 'DESC' ? '<=' : '>='} ${places[0]}` : 'true';
}
