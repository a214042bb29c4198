/** How a fact becomes a row of a Postgres table, and how that row ends. */
import type { CopyValue } from '../../../infra/postgres/copy.ts';
import type { Fact, FactOf, FactType } from '../../../schemas/facts.ts';

export type KeyType = 'text' | 'bytea' | 'integer';
export type KeyValue = string | number;

/** Columns of what is described, in the order of the primary key. Of type bytea: hex. */
export type Key<F> = Readonly<Record<string, { readonly type: KeyType; readonly of: (fact: F) => KeyValue }>>;
export type Columns<F> = Readonly<Record<string, (fact: F) => CopyValue>>;

/** A thing that happened: it stays unless its block goes. Columns `height` and `position` come on top. */
export interface EventTable<F extends Fact = Fact> {
  readonly life: 'event';
  readonly name: string;
  readonly fact: FactType;
  readonly columns: Columns<F>;
}

/** A state that holds until the next one of the same key. Columns `from_height`, `to_height`, `position` come on top. */
export interface VersionTable<F extends Fact = Fact> {
  readonly life: 'versions';
  readonly name: string;
  readonly fact: FactType;
  readonly key: Key<F>;
  readonly columns: Columns<F>;
  /** Columns after from_height that order several versions of one block; without them a block leaves one version. */
  readonly order: readonly string[];
}

/** A thing that is made once and may end once, by a fact of another type that says how. */
export interface EndingTable<F extends Fact = Fact, E extends Fact = Fact> {
  readonly life: 'ending';
  readonly name: string;
  readonly fact: FactType;
  readonly key: Key<F>;
  readonly columns: Columns<F>;
  readonly endedBy: FactType;
  readonly endKey: (fact: E) => readonly KeyValue[];
  readonly endColumns: Readonly<Record<string, { readonly type: KeyType; readonly of: (fact: E) => KeyValue }>>;
}

export type PostgresTable = EventTable | VersionTable | EndingTable;

type Typed<T, F extends FactType> = Omit<T, 'fact'> & { readonly fact: F };

// The registry is looked up by fact type, so each table only ever sees its own facts: the one place where that is said.
export const eventTable = <T extends FactType>(table: Typed<EventTable<FactOf<T>>, T>): PostgresTable =>
  table as unknown as PostgresTable;

export const versionTable = <T extends FactType>(table: Typed<VersionTable<FactOf<T>>, T>): PostgresTable =>
  table as unknown as PostgresTable;

export const endingTable = <T extends FactType, E extends FactType>(
  table: Typed<Omit<EndingTable<FactOf<T>, FactOf<E>>, 'endedBy'>, T> & { readonly endedBy: E },
): PostgresTable => table as unknown as PostgresTable;

/** Hash or txid → bytea. */
export const hex = (text: string): CopyValue => ({ hex: text });
export const hexOrNull = (text: string | null): CopyValue => (text === null ? null : { hex: text });
export const json = (text: string): CopyValue => ({ json: text });
export const jsonOrNull = (text: string | null): CopyValue => (text === null ? null : json(text));
