/** Lists by page number or by cursor, in both directions. A cursor stays stable while blocks arrive; a rewind invalidates it with an error. */
import { integer as integerSchema, type PageOf } from '../schema/json-schema.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { ApiError, parameterError } from './api-error.ts';
import { type Cursor, decodeCursor, encodeCursor } from './cursor.ts';
import type { KeyColumn, ListSource } from './list-source.ts';
import { type PlacedRow, readRows } from './page-rows.ts';
import { formatParameter, type ParameterValues, queryParameter } from './parameters.ts';
import { refuseRewound } from './rewound-cursor.ts';

export const DEFAULT_PAGE_SIZE = 25;
export const MAX_PAGE_SIZE = 200;
export const MAX_OFFSET = 10_000;

export const pageParameters = {
  page: queryParameter('Page, from 1; not together with cursor', { ...integerSchema, minimum: 1 }),
  pageSize: queryParameter('Rows a page; more than 200 is served as 200', {
    ...integerSchema,
    minimum: 1,
    default: DEFAULT_PAGE_SIZE,
  }),
  cursor: queryParameter(
    'nextCursor of an answer: goes on after its last row; or prevCursor: goes back before its first row',
    { type: 'string', maxLength: 1000 },
  ),
  ...formatParameter,
};

interface Placing extends Pick<ParameterValues<typeof pageParameters>, 'page' | 'cursor'> {
  readonly pageSize: number | undefined;
}

/** @throws ApiError page_too_deep, cursor_invalid, cursor_rewound */
export async function readPage<Row, Shown>(
  read: Snapshot,
  params: Placing,
  source: ListSource<Row, Shown>,
): Promise<PageOf<Shown>> {
  const pageSize = Math.min(params.pageSize ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const { page, after } = placeOf(params, pageSize, source);
  if (after) await refuseRewound(read, after, source);
  const isBack = after?.isBack ?? false;
  const found = await readRows(read, source, {
    key: isBack ? reversed(source.key) : source.key,
    after: after?.key ?? null,
    offset: page === null ? 0 : (page - 1) * pageSize,
    pageSize,
  });
  const shown = found.slice(0, pageSize);
  if (isBack) shown.reverse();
  const hasMore = found.length > pageSize;
  const hasLeft = after !== null || (page ?? 1) > 1; // rows on the other side of the place that these begin at
  const [first, last] = [shown.at(0), shown.at(-1)];
  const total = await source.total();
  return {
    results: await source.show(shown.map(({ row }) => row)),
    page,
    pageSize,
    total,
    totalPages: Math.ceil(total / pageSize),
    nextCursor: last && (isBack ? hasLeft : hasMore) ? cursorAt(source, last, false) : null,
    prevCursor: first && (isBack ? hasMore : hasLeft) ? cursorAt(source, first, true) : null,
  };
}

function placeOf(
  params: Placing,
  pageSize: number,
  source: Pick<ListSource<never, never>, 'list' | 'chain' | 'key' | 'pinned'>,
): { readonly page: number | null; readonly after: Cursor | null } {
  if (params.cursor === undefined) {
    const page = params.page ?? 1;
    if (page * pageSize > MAX_OFFSET) {
      throw new ApiError('page_too_deep', `page × pageSize is above ${MAX_OFFSET}: walk by nextCursor instead`);
    }
    return { page, after: null };
  }
  if (params.page !== undefined) {
    throw parameterError('page', 'page and cursor exclude each other');
  }
  const kinds = source.key.map(({ kind }) => kind);
  return {
    page: null,
    after: decodeCursor(params.cursor, source.list, source.chain, kinds, source.pinned !== undefined),
  };
}

export function reversed<K extends readonly KeyColumn[]>(key: K): K {
  return key.map((column) => ({ ...column, order: column.order === 'ASC' ? 'DESC' : 'ASC' })) as unknown as K;
}

function cursorAt(
  { list, chain, key, pinned }: Pick<ListSource<never, never>, 'list' | 'chain' | 'key' | 'pinned'>,
  { stored, hash }: PlacedRow<unknown>,
  isBack: boolean,
): string {
  const place = key.map(({ column, kind }) => (kind === 'integer' ? Number(stored[column]) : String(stored[column])));
  const height = pinned?.height ?? Number(place[0]);
  return encodeCursor({ list, chain, isBack, key: place, generation: pinned?.generation, height, hash: hash ?? '' });
}
