/** What defines a fact. Its type, check, columns, topic branch, arbitraries and row reader follow from the definition alone. */
import type { DetailField, Fields, ValuesOf } from './fields.ts';

type Name<F extends Fields> = keyof F & string;
/** A field, or `field.member` of a detail. */
type Path<F extends Fields> = {
  [K in Name<F>]: F[K] extends DetailField<unknown, infer M> ? `${K}.${keyof M & string}` : K;
}[Name<F>];

/**
 * How the fact's rows live in Postgres. `event`: a row stays unless its block goes. `versions`: a state holds until the next one of the
 * same key; `order` are the fields that order several versions of one block (without them a block leaves its last). `series`: the same
 * without an order, of which no row is changed any more: `rows` has them, `newest` the last of each key, and `table`, a view, all with
 * their ends. `ending`: a thing is made once and may end once. `end`: the fact ends a row of the type that it names, and fills columns with its fields beyond the key.
 */
export type PostgresRows<N extends string = string> =
  | { readonly life: 'event'; readonly table: string }
  | { readonly life: 'versions'; readonly table: string; readonly order: readonly N[] }
  | { readonly life: 'series'; readonly table: string; readonly rows: string; readonly newest: string }
  | { readonly life: 'ending'; readonly table: string }
  | { readonly life: 'end'; readonly of: string };

export type HistoryValue = string | number | bigint | null | readonly (string | number | bigint)[];

/** One row a fact in a table of ClickHouse. `timed` adds the time of its block; `audited` names the lines that audit compares. */
export interface FieldHistory<P extends string = string> {
  readonly table: string;
  readonly fields: readonly P[];
  readonly timed: boolean;
  /** Null where Postgres does not hold the rows. */
  readonly audited: string | null;
}

/** Any number of rows a fact, made by code. */
export interface MadeHistory<V> {
  readonly table: string;
  readonly columns: readonly string[];
  rows(fact: V, block: HistoryBlock): Iterable<readonly HistoryValue[]>;
  /** Lines of pipeline/audit/audited-facts.ts. */
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
  /** Whether the chain state keeps the newest fact of each key for later blocks, and with it the height of its block. */
  readonly recalled: 'no' | 'fact' | 'fact_and_height';
  /** Null where Postgres does not hold it. */
  readonly postgres: PostgresRows<Name<F>> | null;
  readonly clickhouse: readonly FactHistory<Path<F>, ValuesOf<F>>[];
  /** Whether the `facts` topic carries it: consumers need it. The rest is state that only the stores hold. */
  readonly published: boolean;
  /** Values of the fields that earlier records of the topic do not have. */
  readonly unsaid?: Partial<ValuesOf<F>>;
  /** The fields that need a check, for a frequent fact whose others readable-block.ts has checked; every field by default. */
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
