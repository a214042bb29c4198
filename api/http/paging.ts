/** Lists by page number or by cursor: newest first, stable while blocks arrive, honest after a rewind. */

import type { StoredRow } from '../../infra/postgres/fact-columns.ts';
import { columns, type RowReader, rowReader, storedColumns } from '../../infra/postgres/row-reader.ts';
import { hexParam } from '../../infra/postgres/values.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import { integer as integerSchema } from '../schema/json-schema.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { ApiError } from './api-error.ts';
import { type Cursor, type CursorValue, decodeCursor, encodeCursor, type KeyKind } from './cursor.ts';
import { type ParameterValues, queryParameter } from './parameters.ts';

const DEFAULT_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 200;
const MAX_OFFSET = 10_000;

export const pageParameters = {
  page: queryParameter('Page, from 1; not together with cursor', { ...integerSchema, minimum: 1 }),
  pageSize: queryParameter('Rows a page; more than 200 is served as 200', {
    ...integerSchema,
    minimum: 1,
    default: DEFAULT_PAGE_SIZE,
  }),
  cursor: queryParameter('nextCursor of an answer: goes on after its last row', { type: 'string', maxLength: 1000 }),
  format: queryParameter(
    'json: a page; csv, ndjson: all rows, newest first, as a stream. Accept says the same. ' +
      'In csv a text that a spreadsheet would run, or that begins with an apostrophe, has an apostrophe in front: take one away',
    {
      type: 'string',
      enum: ['json', 'csv', 'ndjson'],
    },
  ),
};

interface Placing extends Pick<ParameterValues<typeof pageParameters>, 'page' | 'cursor'> {
  readonly pageSize: number | undefined;
}

export interface KeyColumn {
  /** Name of the column in the result. */
  readonly column: string;
  readonly sql: string;
  readonly kind: KeyKind;
  readonly order: 'ASC' | 'DESC';
}

/** Bounds within which each source must return the rows of a page. */
export interface PageBounds {
  /** End of a `WHERE`: the rows after the cursor, in order, as many as the page reaches to. */
  readonly sql: string;
  /** Key of the row before; null from the first on. */
  readonly after: readonly CursorValue[] | null;
  readonly rows: number;
  /** Placeholder of one more value. */
  given(value: unknown): string;
}

export interface ListSource<Row, Shown> {
  /** Stands in the cursor. */
  readonly list: string;
  readonly chain: string;
  /** `SELECT … FROM … WHERE …`. The condition of the cursor is appended with AND, unless a function collects the page from several sources. */
  readonly sql: string | ((bounds: PageBounds) => Promise<string>);
  readonly values: readonly unknown[];
  /** Whether filters make so many texts of `sql` that keeping them prepared is not worth it. */
  readonly isOpenEnded?: boolean;
  /** Unique; the first column is the height of the row's block, in descending order. */
  readonly key: readonly [KeyColumn, ...KeyColumn[]];
  readonly reader: RowReader<Row>;
  readonly total: () => Promise<number>;
  readonly show: (rows: readonly Row[]) => readonly Shown[] | Promise<readonly Shown[]>;
}

type AnySource = Pick<ListSource<never, never>, 'list' | 'chain' | 'key'>;

export interface Page<Shown = unknown> {
  readonly results: readonly Shown[];
  readonly page: number | null;
  readonly pageSize: number;
  readonly total: number;
  readonly totalPages: number;
  readonly nextCursor: string | null;
}

/** @throws ApiError page_too_deep, cursor_invalid, cursor_rewound */
export async function readPage<Row, Shown>(
  read: Snapshot,
  params: Placing,
  source: ListSource<Row, Shown>,
): Promise<Page<Shown>> {
  const pageSize = Math.min(params.pageSize ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const { page, after } = placeOf(params, pageSize, source);
  if (after) await refuseRewound(read, after, source.key);
  const rows = await readRows(read, source, after, page === null ? 0 : (page - 1) * pageSize, pageSize + 1);
  const shown = rows.slice(0, pageSize);
  const last = shown.at(-1);
  const total = await source.total();
  return {
    results: await source.show(shown.map(({ row }) => row)),
    page,
    pageSize,
    total,
    totalPages: Math.ceil(total / pageSize),
    nextCursor: last && rows.length > pageSize ? cursorAfter(source, last) : null,
  };
}

function placeOf(params: Placing, pageSize: number, source: AnySource) {
  if (params.cursor === undefined) {
    const page = params.page ?? 1;
    if (page * pageSize > MAX_OFFSET) {
      throw new ApiError('page_too_deep', `page × pageSize is above ${MAX_OFFSET}: walk by nextCursor instead`);
    }
    return { page, after: null };
  }
  if (params.page !== undefined) {
    const detail = 'page and cursor exclude each other';
    throw new ApiError('invalid_parameter', detail, { errors: [{ pointer: '/page', detail }] });
  }
  const kinds = source.key.map(({ kind }) => kind);
  return { page: null, after: decodeCursor(params.cursor, source.list, source.chain, kinds) };
}

/** A walk stays whole while the block at its place is the one that it saw. */
async function refuseRewound(read: Snapshot, after: Cursor, key: AnySource['key']): Promise<void> {
  const { chain } = after;
  if ((await hashAt(read, chain, after.height)) === after.hash) return;
  throw await cursorRewound(read, after, async (height) => endOf(height + 1, key));
}

/** The error for a cursor whose block was rewound. `placeAt` gives the key that sorts after every row of the blocks above a height. */
export async function cursorRewound(
  read: Snapshot,
  after: Cursor,
  placeAt: (height: number) => Promise<readonly CursorValue[]>,
): Promise<ApiError> {
  const { chain, height: gone } = after;
  const height = Math.min(gone - 1, read.state.derived.get(chain)?.height ?? 0);
  const hash = height < 0 ? undefined : await hashAt(read, chain, height);
  const nextCursor = hash ? encodeCursor({ ...after, height, hash, key: await placeAt(height) }) : null;
  return new ApiError(
    'cursor_rewound',
    `a reorganisation replaced block ${gone} of ${chain}: read what is above ${height} again, go on with nextCursor`,
    { members: { height, nextCursor } },
  );
}

/** The place behind every row of a height. */
function endOf(height: number, [, ...rest]: AnySource['key']): CursorValue[] {
  return [height, ...rest.map(({ kind, order }) => lastValue(kind, order))];
}

const MAX_INTEGER = 2 ** 31 - 1;

function lastValue(kind: KeyKind, order: 'ASC' | 'DESC'): CursorValue {
  const largest = order === 'ASC';
  if (kind === 'integer') return largest ? MAX_INTEGER : 0;
  if (kind === 'hex') return (largest ? 'f' : '0').repeat(64);
  return largest ? '\u{10ffff}' : '';
}

function cursorAfter({ list, chain, key }: AnySource, { stored, hash }: Placed<unknown>): string {
  const place = key.map(({ column, kind }) => (kind === 'integer' ? Number(stored[column]) : String(stored[column])));
  return encodeCursor({ list, chain, key: place, height: Number(place[0]), hash: hash ?? '' });
}

export async function hashAt(read: Snapshot, chain: string, height: number): Promise<string | undefined> {
  const sql = 'SELECT hash FROM blocks WHERE chain = $1 AND height = $2';
  return (await read.row(readHash, sql, [chain, height]))?.hash;
}

const readHash = rowReader(storedColumns(DEFINITIONS.block, ['hash']));

interface Placed<Row> {
  readonly row: Row;
  readonly stored: StoredRow;
  /** Hash of the row's block, where the next page begins after it; else null. */
  readonly hash: string | null;
}

const readCursorHash = rowReader({ cursor_hash: columns.nullable(columns.text) });

/** `limit` rows are one more than are shown. */
async function readRows<Row>(
  read: Snapshot,
  source: Pick<ListSource<Row, unknown>, 'key' | 'values' | 'sql' | 'chain' | 'reader' | 'isOpenEnded'>,
  after: Cursor | null,
  offset: number,
  limit: number,
): Promise<Placed<Row>[]> {
  const values = [...source.values];
  const [{ column: height }] = source.key;
  const order = source.key.map((column) => `${column.sql} ${column.order}`).join(', ');
  const place = after ? ` AND ${placeCondition(source.key, after.key, values)}` : '';
  values.push(limit, offset, source.chain);
  const [limitAt, offsetAt, chainAt] = [values.length - 2, values.length - 1, values.length];
  const sql =
    typeof source.sql === 'string'
      ? source.sql + place
      : await source.sql({
          sql: `${place} ORDER BY ${order} LIMIT $${limitAt}::bigint + $${offsetAt}::bigint`,
          after: after?.key ?? null,
          rows: limit + offset,
          given: (value) => `$${values.push(value)}`,
        });
  return read.rows(
    (stored) => ({ row: source.reader(stored), stored, hash: readCursorHash(stored).cursor_hash }),
    `SELECT page.*, CASE WHEN row_number() OVER () = $${limitAt} - 1
        THEN (SELECT hash FROM blocks WHERE chain = $${chainAt} AND height = page.${height}) END AS cursor_hash
      FROM (${sql} ORDER BY ${order} LIMIT $${limitAt} OFFSET $${offsetAt}) AS page`,
    values,
    source.isOpenEnded,
  );
}

/**
 * Rows after `key`. Where all columns go one way the index finds the place itself; else the first column bounds the scan and the
 * rest is compared column by column.
 */
function placeCondition(key: AnySource['key'], after: readonly CursorValue[], values: unknown[]): string {
  const places = key.map(({ kind }, index) => {
    const value = after[index] ?? '';
    values.push(kind === 'hex' ? hexParam(String(value)) : value);
    return `$${values.length}`;
  });
  const [{ order }] = key;
  if (key.every((column) => column.order === order)) {
    return `(${key.map(({ sql }) => sql).join(', ')}) ${order === 'DESC' ? '<' : '>'} (${places.join(', ')})`;
  }
  const beyond = key.map((column, index) => {
    const equal = key.slice(0, index).map((earlier, at) => `${earlier.sql} = ${places[at]}`);
    return [...equal, `${column.sql} ${column.order === 'DESC' ? '<' : '>'} ${places[index]}`].join(' AND ');
  });
  const bound = `${key[0].sql} ${key[0].order === 'DESC' ? '<=' : '>='} ${places[0]}`;
  return `${bound} AND (${beyond.join(' OR ')})`;
}
