/** The basis of a day's file: a text of everything that the file depends on. The file is written again when it changes. It ends with the columns. */
import type { DatasetTable } from '../../schemas/datasets/table.ts';

/** Every table begins with the chain. */
const COLUMNS = / (chain String,.*)$/;

export const basisOf = (parts: readonly unknown[], table: DatasetTable): string =>
  `${parts.join(' ')} ${columnsOf(table)}`;

/** As a basis ends with them. */
export const columnsOf = ({ columns }: DatasetTable): string =>
  columns.map(({ name, type }) => `${name} ${type}`).join();

export const columnsIn = (basis: string): string => COLUMNS.exec(basis)?.[1] ?? '';
