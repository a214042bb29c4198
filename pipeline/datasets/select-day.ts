/** The statements that read one day of one table, or all of it. */
import { aheadRowsSql } from '../../schemas/ahead-runs.ts';
import type { DatasetTable, GenerationTable, StoredTable } from '../../schemas/datasets/table.ts';
import type { ChainDay, ExportedGeneration, PricedState } from './export-state.ts';

export interface DayParams extends Readonly<Record<string, unknown>> {
  readonly chain: string;
  readonly from: number;
  readonly to: number;
}

export const paramsOf = ({ chain, from, to }: ChainDay): DayParams => ({ chain, from, to });

/** Which rows of a table to read: the condition on its ClickHouse tables, and the FROM operand for its copied rows. */
interface SelectRequest {
  readonly condition: (height: string) => string;
  readonly priced: PricedState;
  /** Null: without the columns of the copied rows. */
  readonly copied: string | null;
}

/** Casts each column to its declared type, whatever the type of the expression is. */
const columnsOf = ({ columns }: Pick<DatasetTable, 'columns'>): string =>
  columns.map(({ name, type, sql }) => `CAST(${sql} AS ${type}) AS ${name}`).join(', ');
const ofDay = (height: string) => `chain = {chain:String} AND ${height} BETWEEN {from:UInt32} AND {to:UInt32}`;

/** Selects rows in the order of the files. `copied` is the FROM operand for the rows of `copiedRowsOf`. */
export function daySelect(table: DatasetTable, priced: PricedState, isClosed: boolean, copied: string | null): string {
  const height = table.store === 'prices' ? table.height : 'height';
  const order = table.order.map((name) => (name === 'height' ? height : name)).join(', ');
  // A closed day has no row beyond the line.
  const state = isClosed ? { ...priced, runs: [] } : priced;
  return `${tableSelect(table, { condition: ofDay, priced: state, copied })} ORDER BY ${order}`;
}

/** Selects the rows, unordered. */
export function tableSelect(table: DatasetTable, asked: SelectRequest): string {
  switch (table.store) {
    case 'postgres':
      return `SELECT ${columnsOf(table)} FROM ${asked.copied}`;
    case 'clickhouse':
      return storedSelect(table, asked);
    case 'prices':
      return generationsSelect(asked.copied === null ? withoutCopied(table) : table, asked);
  }
}

function storedSelect(table: StoredTable, { condition }: SelectRequest): string {
  return `SELECT ${columnsOf(table)} FROM ${table.table} WHERE ${condition('height')}`;
}

/** Names of the columns that come from the copied rows. */
export function copiedNames({ copied, other }: GenerationTable): ReadonlySet<string> {
  const names = new Set(copied.map(({ name }) => name));
  return new Set([...names, ...other.filter(({ column }) => names.has(column)).map(({ name }) => name)]);
}

function withoutCopied(table: GenerationTable): GenerationTable {
  const names = copiedNames(table);
  const isKept = ({ name }: { readonly name: string }) => !names.has(name);
  return { ...table, copied: [], columns: table.columns.filter(isKept), other: table.other.filter(isKept) };
}

function generationsSelect(table: GenerationTable, { condition, priced, copied }: SelectRequest): string {
  const place = `(${condition(table.height)})`;
  const rowsOf = ({ generation }: ExportedGeneration) => {
    const where = `generation = ${generation} AND ${place}`;
    const stored = table.stored.join(', ');
    const complete = `SELECT ${stored} FROM ${table.table} WHERE ${where} AND tick <= ${priced.tick}`;
    const all =
      priced.runs.length === 0
        ? `(${complete})`
        : `(${complete} UNION ALL SELECT ${stored} FROM ${aheadRowsSql(`${table.table}_ahead`, priced.runs, where)})`;
    if (table.copied.length === 0) return all;
    const columns = table.copied.map(({ name }) => name).join(', ');
    return `(SELECT * FROM ${all} AS stored LEFT JOIN
      (SELECT chain, txid, vout, ${columns} FROM ${copied} WHERE generation = ${generation}) AS stamps USING (chain, txid, vout))`;
  };
  if (table.other.length === 0) return `SELECT ${columnsOf(table)} FROM ${rowsOf(priced.served)}`;
  const names = table.other.map(({ name, column }) => `${column} AS ${name}`).join(', ');
  const joined = priced.other
    ? `LEFT JOIN (SELECT chain, txid, vout, ${names} FROM ${rowsOf(priced.other)}) AS others USING (chain, txid, vout)`
    : '';
  const none = priced.other ? '' : `, ${table.other.map(({ name }) => `NULL AS ${name}`).join(', ')}`;
  return `SELECT ${columnsOf(table)} FROM (SELECT *${none} FROM ${rowsOf(priced.served)} AS own ${joined})`;
}
