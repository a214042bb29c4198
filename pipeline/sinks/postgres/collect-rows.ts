/** Collects a batch's changes to one table: rows to add, with versions and ends within the batch already combined, and rows to end. */
import type { CopyValue } from '../../../infra/postgres/copy.ts';
import type { FactColumn } from '../../../infra/postgres/fact-columns.ts';
import type { Fact } from '../../../schemas/facts.ts';
import type { FactsByType, PlacedFact } from '../facts-by-type.ts';
import {
  type EndingTable,
  type EventTable,
  fieldsOf,
  type KeyValue,
  type PostgresTable,
  rawValues,
  type SeriesTable,
  type VersionTable,
} from './table.ts';

export interface TableChanges {
  readonly columns: readonly string[];
  /** Builds the rows while they are written, so that a batch is not in memory twice. */
  rows(): Iterable<readonly CopyValue[]>;
  readonly count: number;
  /** Ends of stored rows, one for each key. */
  readonly ends: readonly RowEnd[];
}

export interface RowEnd {
  readonly key: readonly KeyValue[];
  readonly height: number;
  /** Fields of the fact that ends the row; null if the next version ends it. */
  readonly by: Readonly<Record<string, unknown>> | null;
}

interface StateRow<F extends Fact> extends PlacedFact<F> {
  end: RowEnd | null;
}

export function collectRows(
  table: Exclude<PostgresTable, SeriesTable>,
  chain: string,
  facts: FactsByType,
): TableChanges {
  if (table.life === 'event') return collectEvents(table, chain, facts);
  return table.life === 'versions' ? collectVersions(table, chain, facts) : collectEnding(table, chain, facts);
}

function collectEvents(table: EventTable, chain: string, facts: FactsByType): TableChanges {
  const placed = facts.of(table.fact);
  return {
    columns: ['chain', 'height', ...table.columns.map(({ name }) => name), 'position'],
    *rows() {
      for (const { fact, at } of placed) {
        const row: CopyValue[] = [chain, at.height];
        const fields = fieldsOf(fact);
        for (const column of table.columns) row.push(column.of(fields));
        row.push(at.position);
        yield row;
      }
    },
    count: placed.length,
    ends: [],
  };
}

function collectVersions(table: VersionTable, chain: string, facts: FactsByType): TableChanges {
  const newest = new Map<string, StateRow<Fact>>();
  const rows: StateRow<Fact>[] = [];
  const ends: RowEnd[] = [];
  for (const { fact, at } of facts.of(table.fact)) {
    const key = rawValues(table.key, fact);
    const end: RowEnd = { key, height: at.height, by: null };
    const id = key.join(':');
    const before = newest.get(id);
    if (!before) ends.push(end);
    else if (before.at.height === at.height && table.order.length === 0) {
      before.end = NEVER; // only the last version of a block is kept in this table
    } else before.end = end;
    const row = { fact, at, end: null };
    newest.set(id, row);
    rows.push(row);
  }
  const kept = rows.filter((row) => row.end !== NEVER);
  return { ...stateRows(table, [], chain, kept), ends };
}

const NEVER: RowEnd = { key: [], height: -1, by: null };

function collectEnding(table: EndingTable, chain: string, facts: FactsByType): TableChanges {
  const made = new Map<string, StateRow<Fact>>();
  for (const { fact, at } of facts.of(table.fact))
    made.set(rawValues(table.key, fact).join(':'), { fact, at, end: null });
  const ends: RowEnd[] = [];
  for (const { fact, at } of facts.of(table.endedBy)) {
    const key = rawValues(table.endKey, fact);
    const end = { key, height: at.height, by: fieldsOf(fact) };
    const row = made.get(key.join(':'));
    if (row) row.end = end;
    else ends.push(end);
  }
  return { ...stateRows(table, table.endColumns, chain, [...made.values()]), ends };
}

function stateRows(
  table: VersionTable | EndingTable,
  endColumns: readonly FactColumn[],
  chain: string,
  rows: readonly StateRow<Fact>[],
): Omit<TableChanges, 'ends'> {
  const columns = [...table.key, ...table.columns];
  return {
    columns: [
      'chain',
      ...columns.map(({ name }) => name),
      'from_height',
      'to_height',
      ...endColumns.map(({ name }) => name),
      'position',
    ],
    *rows() {
      for (const { fact, at, end } of rows) {
        const row: CopyValue[] = [chain];
        const fields = fieldsOf(fact);
        for (const column of columns) row.push(column.of(fields));
        row.push(at.height, end?.height ?? null);
        for (const column of endColumns) row.push(end?.by ? column.of(end.by) : null);
        row.push(at.position);
        yield row;
      }
    },
    count: rows.length,
  };
}
