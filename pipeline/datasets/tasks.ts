/** What a pass has to write: days whose file is not what the stores hold. */
import type { DatasetDay } from '../../schemas/datasets/manifest.ts';
import type { DatasetTable } from '../../schemas/datasets/table.ts';
import { basisOf, columnsIn, columnsOf } from './basis.ts';
import { type ChainDay, factBasis, type PricedState, pricedBasis } from './export-state.ts';
import type { DatasetFolder } from './folder.ts';
import { dayKey, generationsIn, type Notes } from './notes.ts';
import { type DayToWrite, generationsOf } from './write-day.ts';

export interface Task extends DayToWrite {
  /** `day`, which ends where prices have come to, up to its last block. */
  readonly whole: ChainDay;
  readonly basis: string;
}

/** Null while there is nothing to write of the day. */
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

/** Whether the file that is there is what the task would write, or holds more until prices catch up. */
export async function stands(task: Task, { days }: Notes, folder: DatasetFolder): Promise<boolean> {
  const known = days.get(dayKey(task.day));
  if (!known) return false;
  if (known.basis !== task.basis && !isAhead(known, task.table, task.whole, task.priced)) return false;
  return known.file === null || folder.has(known.file.path);
}

/** Prices that were taken back return within the day: its file stays meanwhile, unless blocks have left the day or its rows are of other kinds. */
export function isAhead({ basis, file }: DatasetDay, table: DatasetTable, day: ChainDay, priced: PricedState): boolean {
  if (table.store !== 'prices' || file === null || day.pricedTo === day.to) return false;
  if (file.fromHeight !== day.from || file.toHeight > day.to || file.toHeight <= day.pricedTo) return false;
  return generationsIn(file) === generationsOf(table, priced).join('-') && columnsIn(basis) === columnsOf(table);
}
