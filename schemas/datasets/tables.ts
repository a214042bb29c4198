/** Every table of the data set. */
import { FACT_TABLES } from './fact-tables.ts';
import { PRICED_TABLES } from './priced-tables.ts';
import type { DatasetTable } from './table.ts';

export const DATASET_TABLES: readonly DatasetTable[] = [...FACT_TABLES, ...PRICED_TABLES];

export const datasetTable = (name: string): DatasetTable | undefined =>
  DATASET_TABLES.find((table) => table.name === name);
