/** What a batch does to one table: rows to add, versions and ends inside the batch already combined, and rows to end. */
import type { CopyValue } from '../../../infra/postgres/copy.ts';
import type { Fact } from '../../../schemas/facts.ts';
import type { FactsByType, PlacedFact } from '../facts-by-type.ts';
import {
  type EndingTable,
  type EventTable,
  hex,
  type KeyValue,
  type PostgresTable,
  type VersionTable,
} from './table.ts';

export interface TableChanges {
  readonly columns: readonly string[];
  /** Built while they are written: a batch is never held twice. */
  rows(): Iterable<readonly CopyValue[]>;
  readonly count: number;
  /** Of rows that stand in the store, one a key. */
  readonly ends: readonly RowEnd[];
}

export interface RowEnd {
  readonly key: readonly KeyValue[];
  readonly height: number;
  /** Values of the end columns. */
  readonly values: readonly KeyValue[];
}

interface StateRow<F extends Fact> extends PlacedFact<F> {
  end: RowEnd | null;
}

export function collectRows(table: PostgresTable, chain: string, facts: FactsByType): TableChanges {
  if (table.life === 'event') return collectEvents(table, chain, facts);
  return table.life === 'versions' ? collectVersions(table, chain, facts) : collectEnding(table, chain, facts);
}

function collectEvents(table: EventTable, chain: string, facts: FactsByType): TableChanges {
  const placed = facts.of(table.fact);
  const values = Object.values(table.columns);
  return {
    columns: ['chain', 'height', ...Object.keys(table.columns), 'position'],
    *rows() {
      for (const { fact, at } of placed) {
        const row: CopyValue[] = [chain, at.height];
        for (const of of values) row.push(of(fact));
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
    const key = keyOf(table, fact);
    const end: RowEnd = { key, height: at.height, values: [] };
    const id = key.join(':');
    const before = newest.get(id);
    if (!before) ends.push(end);
    else if (before.at.height === at.height && table.order.length === 0) {
      before.end = NEVER; // a block leaves one version here: the last one
    } else before.end = end;
    const row = { fact, at, end: null };
    newest.set(id, row);
    rows.push(row);
  }
  const kept = rows.filter((row) => row.end !== NEVER);
  return { ...stateRows(table, [], chain, kept), ends };
}

const NEVER: RowEnd = { key: [], height: -1, values: [] };

function collectEnding(table: EndingTable, chain: string, facts: FactsByType): TableChanges {
  const made = new Map<string, StateRow<Fact>>();
  for (const { fact, at } of facts.of(table.fact)) made.set(keyOf(table, fact).join(':'), { fact, at, end: null });
  const endColumns = Object.entries(table.endColumns);
  const ends: RowEnd[] = [];
  for (const { fact, at } of facts.of(table.endedBy)) {
    const key = table.endKey(fact);
    const end = { key, height: at.height, values: endColumns.map(([, column]) => column.of(fact)) };
    const row = made.get(key.join(':'));
    if (row) row.end = end;
    else ends.push(end);
  }
  const types = endColumns.map(([name, { type }]) => ({ name, type }));
  return { ...stateRows(table, types, chain, [...made.values()]), ends };
}

function stateRows(
  table: VersionTable | EndingTable,
  endColumns: readonly { readonly name: string; readonly type: string }[],
  chain: string,
  rows: readonly StateRow<Fact>[],
): Omit<TableChanges, 'ends'> {
  const keys = Object.values(table.key).map(({ type, of }) => ({ of, isHex: type === 'bytea' }));
  const values = Object.values(table.columns);
  const ended = endColumns.map(({ type }) => ({ isHex: type === 'bytea' }));
  return {
    columns: [
      'chain',
      ...Object.keys(table.key),
      ...Object.keys(table.columns),
      'from_height',
      'to_height',
      ...endColumns.map(({ name }) => name),
      'position',
    ],
    *rows() {
      for (const { fact, at, end } of rows) {
        const row: CopyValue[] = [chain];
        for (const { of, isHex } of keys) row.push(keyCell(of(fact), isHex));
        for (const of of values) row.push(of(fact));
        row.push(at.height, end?.height ?? null);
        for (const [index, { isHex }] of ended.entries()) row.push(keyCell(end?.values[index] ?? null, isHex));
        row.push(at.position);
        yield row;
      }
    },
    count: rows.length,
  };
}

function keyCell(value: KeyValue | null, isHex: boolean): CopyValue {
  return isHex && value !== null ? hex(String(value)) : value;
}

function keyOf(table: VersionTable | EndingTable, fact: Fact): readonly KeyValue[] {
  return Object.values(table.key).map(({ of }) => of(fact));
}
