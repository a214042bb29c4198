/** The basis of a day's file: a text with everything that the file depends on, the columns last. When it changes, so must the file. */
import type { DatasetTable } from '../../schemas/datasets/table.ts';

/** The first column of every table is the chain. */
const COLUMNS = / (chain String,.*)$/;

export const basisOf = (parts: readonly unknown[], table: DatasetTable): string =>
  `${parts.join(' ')} ${columnsOf(table)}`;

/** The columns as they end a basis. */
export const columnsOf = ({ columns }: DatasetTable): string =>
  columns.map(({ name, type }) => `${name} ${type}`).join();

export const columnsIn = (basis: string): string => COLUMNS.exec(basis)?.[1] ?? '';
