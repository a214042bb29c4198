/** The kinds of Postgres tables, by how their rows begin and end. */
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

/** Events, which stay unless their block is removed. Also has the columns `height` and `position`. */
export interface EventTable extends Table {
  readonly life: 'event';
}

/** States, each valid until the next one of the same key. Also has the columns `from_height`, `to_height` and `position`. */
export interface VersionTable extends KeyedTable {
  readonly life: 'versions';
  /** Columns after from_height that order several versions of one block; without them a block leaves one version. */
  readonly order: readonly string[];
}

/**
 * States that change often: the next state of a key is appended without ending the previous row. Also has the columns `from_height` and
 * `position`; `name` is a view that adds `to_height`.
 */
export interface SeriesTable extends KeyedTable {
  readonly life: 'series';
  /** The table of all rows; `from_height` ends its primary key. */
  readonly rows: string;
  /** The table with key and columns of the last row of each key. */
  readonly newest: string;
}

/** Things that are created once and may end once, by a fact of another type, which supplies `endColumns`. */
export interface EndingTable extends KeyedTable {
  readonly life: 'ending';
  readonly endedBy: FactType;
  readonly endKey: readonly FactColumn[];
  readonly endColumns: readonly FactColumn[];
}

export type PostgresTable = EventTable | VersionTable | SeriesTable | EndingTable;

/** Returns the fields of a fact by name. Facts are looked up by type, so a definition only gets its own facts. */
export const fieldsOf = (fact: Fact): Readonly<Record<string, unknown>> => fact as unknown as Record<string, unknown>;

/** Returns the values of columns unconverted, so hex for a bytea column. */
export function rawValues(columns: readonly FactColumn[], fact: Fact): KeyValue[] {
  const fields = fieldsOf(fact);
  return columns.map(({ field }) => fields[field] as KeyValue);
}
