/** What the file of a day follows from, as one text: while it stays, the file does. It ends with the columns. */
import type { DatasetTable } from '../../schemas/datasets/table.ts';

/** Every table begins with the chain. */
const COLUMNS = / (chain String,.*)$/;

export const basisOf = (parts: readonly unknown[], { columns }: DatasetTable): string =>
  `${parts.join(' ')} ${columns.map(({ name, type }) => `${name} ${type}`).join()}`;

export const columnsIn = (basis: string): string => COLUMNS.exec(basis)?.[1] ?? '';
