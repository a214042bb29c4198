/** How rows of a Postgres table begin and end. */
import type { FactColumn } from '../../../infra/postgres/fact-columns.ts';
import type { Fact, FactType } from '../../../schemas/facts.ts';

export type KeyValue = string | number;

interface Table {
  readonly name: string;
  readonly fact: FactType;
  readonly columns: readonly FactColumn[];
}

interface KeyedTable extends Table {
  /** In the order of the primary key. */
  readonly key: readonly FactColumn[];
}

/** A thing that happened: it stays unless its block goes. Columns `height` and `position` come on top. */
export interface EventTable extends Table {
  readonly life: 'event';
}

/** A state that holds until the next one of the same key. Columns `from_height`, `to_height`, `position` come on top. */
export interface VersionTable extends KeyedTable {
  readonly life: 'versions';
  /** Columns after from_height that order several versions of one block; without them a block leaves one version. */
  readonly order: readonly string[];
}

/**
 * A state that changes often: the next one of the same key is one row more, and ends nothing. Columns `from_height` and `position` come
 * on top; `name`, a view, adds `to_height`.
 */
export interface SeriesTable extends KeyedTable {
  readonly life: 'series';
  /** The table of all rows; `from_height` ends its primary key. */
  readonly rows: string;
  /** Key and columns of the last row of each key. */
  readonly newest: string;
}

/** A thing that is made once and may end once, by a fact of another type that says how. */
export interface EndingTable extends KeyedTable {
  readonly life: 'ending';
  readonly endedBy: FactType;
  readonly endKey: readonly FactColumn[];
  readonly endColumns: readonly FactColumn[];
}

export type PostgresTable = EventTable | VersionTable | SeriesTable | EndingTable;

/** The fields by name. Facts are looked up by their type, so a definition only ever sees its own. */
export const fieldsOf = (fact: Fact): Readonly<Record<string, unknown>> => fact as unknown as Record<string, unknown>;

/** Values of columns as they are: hex where the column is bytea. */
export function rawValues(columns: readonly FactColumn[], fact: Fact): KeyValue[] {
  const fields = fieldsOf(fact);
  return columns.map(({ field }) => fields[field] as KeyValue);
}
