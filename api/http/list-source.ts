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

/** Bounds within which each source must return the rows of a page. */
export interface PageBounds {
  /** End of a `WHERE`: the rows after the cursor, in order, as many as the page reaches to. */
  readonly sql: string;
  /** That order: the list's, or on the way back the reverse. */
  readonly key: readonly KeyColumn[];
  /** Key of the row before; null from the first on. */
  readonly after: readonly CursorValue[] | null;
  readonly rows: number;
  /** Placeholder of one more value. */
  given(value: unknown): string;
}

export interface Pinned {
  /** Newest block of the chain. */
  readonly height: number;
  /** Generation of stamps that is served: another one makes another order. */
  readonly generation: number;
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
  /** Unique; unless the list is pinned, the first column is the height of the row's block. */
  readonly key: Key;
  /** For an order by what conversions were worth: what every cursor hangs on. */
  readonly pinned?: Pinned | undefined;
  readonly reader: RowReader<Row>;
  readonly total: () => Promise<number>;
  readonly show: (rows: readonly Row[]) => readonly Shown[] | Promise<readonly Shown[]>;
}
