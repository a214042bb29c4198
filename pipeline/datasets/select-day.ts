/** The statements that read one day of one table. */
import { aheadRowsSql } from '../../schemas/ahead-runs.ts';
import type { CopiedTable, DatasetTable, GenerationTable, StoredTable } from '../../schemas/datasets/table.ts';
import type { ChainDay, ExportedGeneration, PricedState } from './export-state.ts';

export interface DayParams extends Readonly<Record<string, unknown>> {
  readonly chain: string;
  readonly from: number;
  readonly to: number;
}

export const paramsOf = ({ chain, from, to }: ChainDay): DayParams => ({ chain, from, to });

/** Each of its declared type, whatever the store makes of the expression. */
const columnsOf = ({ columns }: DatasetTable): string =>
  columns.map(({ name, type, sql }) => `CAST(${sql} AS ${type}) AS ${name}`).join(', ');
const OF_DAY = 'chain = {chain:String}';
const between = (height: string) => `${height} BETWEEN {from:UInt32} AND {to:UInt32}`;

export function storedSelect(table: StoredTable): string {
  return `SELECT ${columnsOf(table)} FROM ${table.table} WHERE ${OF_DAY} AND ${between('height')} ORDER BY ${table.order.join(', ')}`;
}

/** `rows`: the CSV that `copyStatement` made. */
export function copiedSelect(table: CopiedTable, rows: string): string {
  return `SELECT ${columnsOf(table)} FROM ${rows} ORDER BY ${table.order.join(', ')}`;
}

export const copiedStructure = ({ columns }: CopiedTable): string =>
  columns.map(({ name, copied }) => `${name} ${copied.type}`).join(', ');

/** COPY takes no parameters: heights are numbers, and a chain's name has no quote. */
export function copyStatement(table: CopiedTable, { chain, from, to }: ChainDay): string {
  const columns = table.columns.map(({ name, copied }) => `${copied.sql} AS ${name}`).join(', ');
  return `COPY (SELECT ${columns} FROM ${table.table} r JOIN blocks b ON b.chain = r.chain AND b.height = r.${table.height}
    WHERE r.chain = '${chain}' AND r.${table.height} BETWEEN ${from} AND ${to} AND ${table.where}) TO STDOUT (FORMAT csv, NULL '\\N')`;
}

export function pricedSelect(table: GenerationTable, priced: PricedState, isClosed: boolean): string {
  const order = table.order.map((name) => (name === 'height' ? table.height : name)).join(', ');
  // A closed day has no row beyond the line.
  const state = isClosed ? { ...priced, runs: [] } : priced;
  return `${generationsSelect(table, `${OF_DAY} AND ${between(table.height)}`, state)} ORDER BY ${order}`;
}

/** All rows, unordered. `condition`: of each table, by the column of its height. */
export function viewSelect(
  table: StoredTable | GenerationTable,
  condition: (height: string) => string,
  priced: PricedState,
): string {
  if (table.store === 'prices') return generationsSelect(table, `(${condition(table.height)})`, priced);
  return `SELECT ${columnsOf(table)} FROM ${table.table} WHERE ${condition('height')}`;
}

function generationsSelect(table: GenerationTable, place: string, priced: PricedState): string {
  const rowsOf = ({ generation }: ExportedGeneration, columns: string) => {
    const condition = `generation = ${generation} AND ${place}`;
    const complete = `SELECT ${columns} FROM ${table.table} WHERE ${condition} AND tick <= ${priced.tick}`;
    if (priced.runs.length === 0) return `(${complete})`;
    return `(${complete} UNION ALL SELECT ${columns} FROM ${aheadRowsSql(`${table.table}_ahead`, priced.runs, condition)})`;
  };
  const own = table.stored.join(', ');
  if (table.other.length === 0) return `SELECT ${columnsOf(table)} FROM ${rowsOf(priced.served, own)}`;
  const others = table.other.map(({ name, column }) => `${column} AS ${name}`).join(', ');
  const joined = priced.other
    ? `LEFT JOIN ${rowsOf(priced.other, `chain, txid, vout, ${others}`)} AS others USING (chain, txid, vout)`
    : '';
  const none = priced.other ? '' : `, ${table.other.map(({ name }) => `NULL AS ${name}`).join(', ')}`;
  return `SELECT ${columnsOf(table)} FROM (SELECT *${none} FROM ${rowsOf(priced.served, own)} AS own ${joined})`;
}
