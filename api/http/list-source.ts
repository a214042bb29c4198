/** The source of a list: its rows in SQL, and the key that orders them. */
import type { RowReader } from '../../infra/row-reader.ts';
import type { CursorValue, KeyKind } from './cursor.ts';

export interface KeyColumn {
  /** Name of the column in the result. */
  readonly column: string;
  readonly sql: string;
  readonly kind: KeyKind;
  readonly order: 'ASC' | 'DESC';
}

type Key = readonly [KeyColumn, ...KeyColumn[]];

/** Which rows each of several sources must return for a page. */
export interface PageBounds {
  /** End of a `WHERE` clause: selects the rows after the cursor, in order, up to the end of the page. */
  readonly sql: string;
  /** The order of these rows: that of the list, or its reverse for a cursor that leads back. */
  readonly key: readonly KeyColumn[];
  /** Key of the row before the first; null to begin with the first row of the list. */
  readonly after: readonly CursorValue[] | null;
  readonly rows: number;
  /** Adds a value to the query and returns its placeholder. */
  given(value: unknown): string;
}

export interface Pinned {
  /** Newest block of the chain. */
  readonly height: number;
  /** Generation of the served stamps: another generation makes another order. */
  readonly generation: number;
}

export interface ListSource<Row, Shown> {
  /** Name of the list in its cursors. */
  readonly list: string;
  readonly chain: string;
  /** `SELECT … FROM … WHERE …`. The condition of the cursor is appended with AND, unless a function collects the page from several sources. */
  readonly sql: string | ((bounds: PageBounds) => Promise<string>);
  readonly values: readonly unknown[];
  /** Whether filters make so many variants of `sql` that prepared statements are not worth keeping. */
  readonly isOpenEnded?: boolean;
  /** Unique; unless the list is pinned, the first column is the height of the row's block. */
  readonly key: Key;
  /** For a list ordered by the values of conversions: the state that every cursor depends on. */
  readonly pinned?: Pinned | undefined;
  readonly reader: RowReader<Row>;
  readonly total: () => Promise<number>;
  readonly show: (rows: readonly Row[]) => readonly Shown[] | Promise<readonly Shown[]>;
}
