/** The work of a pass: days whose file differs from the stores. */
import { readRow } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import type { DatasetDay } from '../../schemas/datasets/manifest.ts';
import type { DatasetTable } from '../../schemas/datasets/table.ts';
import { basisOf, columnsIn, columnsOf } from './basis.ts';
import { type ChainDay, factBasis, type PricedState, pricedBasis } from './export-state.ts';
import { dayKey, generationsIn, type Notes } from './notes.ts';
import { type DayToWrite, generationsOf } from './write-day.ts';

export interface Task extends DayToWrite {
  /** The whole day, up to its last block; `day` ends at the last block that has prices. */
  readonly whole: ChainDay;
  readonly basis: string;
}

/** Returns null while the day has nothing to write. */
export function taskOf(table: DatasetTable, day: ChainDay, priced: PricedState): Task | null {
  const facts = factBasis(day);
  if (table.store !== 'prices') {
    return { table, day, whole: day, priced, isClosed: day.isFinal, basis: basisOf([facts, day.isFinal], table) };
  }
  if (day.pricedTo < day.from) return null;
  const { closed, basis } = pricedBasis(day, priced);
  const { pricedTo: to, pricedHash: hash, pricedPosition: position } = day;
  const reached = { ...day, to, hash: hash ?? day.hash, position: position ?? day.position };
  return {
    table,
    day: reached,
    whole: day,
    priced,
    isClosed: closed,
    basis: basisOf([factBasis(reached), closed, basis], table),
  };
}

/** Whether the existing file is what the task would write, or has more until prices catch up. `there`: paths of the folder's files. */
export async function stands(
  task: Task,
  { days }: Notes,
  there: ReadonlySet<string>,
  stores: Pick<Stores, 'postgres'>,
): Promise<boolean> {
  const known = days.get(dayKey(task.day));
  if (!known) return false;
  if (known.basis !== task.basis && !(await isAhead(known, { ...task, day: task.whole }, stores))) return false;
  return known.file === null || there.has(known.file.path);
}

const readHash = rowReader({ hash: columns.text });

/**
 * Reverted prices return within the day, so the file of an open day is kept until then, unless blocks have left the day or its rows have
 * another generation or other columns. A closed day is never rewound: its prices are only reverted when blocks are derived again or a chain
 * is added.
 */
export async function isAhead(
  { basis, file }: DatasetDay,
  { table, day, priced }: Pick<Task, 'table' | 'day' | 'priced'>,
  { postgres }: Pick<Stores, 'postgres'>,
): Promise<boolean> {
  if (table.store !== 'prices' || file === null || file.closed || day.pricedTo === day.to) return false;
  if (file.fromHeight !== day.from || file.toHeight > day.to || file.toHeight <= day.pricedTo) return false;
  if (generationsIn(file) !== generationsOf(table, priced).join('-') || columnsIn(basis) !== columnsOf(table))
    return false;
  const sql = 'SELECT hash FROM blocks WHERE chain = $1 AND height = $2';
  const last = await readRow(postgres.pool, readHash, sql, [day.chain, file.toHeight]);
  return last !== undefined && basis.startsWith(`${factBasis({ ...day, to: file.toHeight, hash: last.hash })} `);
}
