/** What defines a fact. Its type, check, columns, topic branch, arbitraries and row reader follow from the definition alone. */
import type { DetailField, Fields, ValuesOf } from './fields.ts';

type Name<F extends Fields> = keyof F & string;
/** A field, or `field.member` of a detail. */
type Path<F extends Fields> = {
  [K in Name<F>]: F[K] extends DetailField<unknown, infer M> ? `${K}.${keyof M & string}` : K;
}[Name<F>];

/**
 * How the fact's rows live in Postgres.
 * - `event`: a row stays unless its block is rewound.
 * - `versions`: a state is valid until the next one of the same key; `order` names the fields that order several versions of one block
 *   (without them only the last version of a block is kept).
 * - `series`: like `versions` without an order, but a row never changes: `rows` has them, `newest` the last row of each key, and `table`,
 *   a view, all rows with their ends.
 * - `ending`: a row is made once and may end once.
 * - `end`: the fact ends a row of the type `of`, and fills columns with its fields beyond the key.
 */
export type PostgresRows<N extends string = string> =
  | { readonly life: 'event'; readonly table: string }
  | { readonly life: 'versions'; readonly table: string; readonly order: readonly N[] }
  | { readonly life: 'series'; readonly table: string; readonly rows: string; readonly newest: string }
  | { readonly life: 'ending'; readonly table: string }
  | { readonly life: 'end'; readonly of: string };

export type HistoryValue = string | number | bigint | null | readonly (string | number | bigint)[];

/** One row per fact in a table of ClickHouse. `timed` adds the time of its block; `audited` names the lines that audit compares. */
export interface FieldHistory<P extends string = string> {
  readonly table: string;
  readonly fields: readonly P[];
  readonly timed: boolean;
  /** Null when Postgres does not have the rows. */
  readonly audited: string | null;
}

/** Any number of rows per fact, made by code. */
export interface MadeHistory<V> {
  readonly table: string;
  readonly columns: readonly string[];
  rows(fact: V, block: HistoryBlock): Iterable<readonly HistoryValue[]>;
  /** Names of lines in pipeline/audit/audited-facts.ts. */
  readonly audited: readonly string[];
}

export interface HistoryBlock {
  readonly time: number;
  readonly nativeCurrencyId: string;
}

export type FactHistory<P extends string = string, V = never> = FieldHistory<P> | MadeHistory<V>;

export interface Definition<T extends string = string, F extends Fields = Fields> {
  readonly type: T;
  readonly fields: F;
  /** Key of the state, or of look-ups; null for an event that is never looked up. */
  readonly key: readonly [Name<F>] | readonly [Name<F>, Name<F>] | null;
  /** Whether the chain state keeps the newest fact of each key for later blocks, and whether it keeps the height of its block too. */
  readonly recalled: 'no' | 'fact' | 'fact_and_height';
  /** Null when Postgres does not store the fact. */
  readonly postgres: PostgresRows<Name<F>> | null;
  readonly clickhouse: readonly FactHistory<Path<F>, ValuesOf<F>>[];
  /** Whether the `facts` topic carries the fact, because consumers need it. Other facts are state that only the stores keep. */
  readonly published: boolean;
  /** Values for fields that older records of the topic lack. */
  readonly unsaid?: Partial<ValuesOf<F>>;
  /** Fields that need a check, for a frequent fact whose other fields readable-block.ts has checked; every field by default. */
  readonly checked?: readonly Name<F>[];
}

export const defineFact = <const T extends string, F extends Fields, const R extends Definition<T, F>['recalled']>(
  definition: Definition<T, F> & { readonly recalled: R },
): Definition<T, F> & { readonly recalled: R } => definition;

/** The TypeScript type of a defined fact. */
export type Defined<D extends { readonly type: string; readonly fields: Fields }> = {
  readonly type: D['type'];
} & ValuesOf<D['fields']>;

export const isMade = <V>(history: FieldHistory | MadeHistory<V>): history is MadeHistory<V> => 'rows' in history;
