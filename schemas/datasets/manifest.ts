/** The manifest of a data-set folder, which describes its files. */
import { CHAIN_NAME } from '../config.ts';

/** Rises when a column is removed or changes its meaning or type, not when a column is added. */
export const DATASET_SCHEMA_VERSION = 1;

/** An entry of the manifest `<table>.json`, which is an array of entries. */
export interface DatasetFile {
  readonly table: string;
  readonly chain: string;
  /** UTC day of the chain's clock. */
  readonly day: string;
  /** Whether the day is closed: its file no longer changes, except after a redrive or a swap of generations. */
  readonly closed: boolean;
  readonly schemaVersion: number;
  /** The served generation; null for a table without prices. */
  readonly generation: number | null;
  readonly rows: number;
  /** Least and greatest height of a row. */
  readonly minHeight: number;
  readonly maxHeight: number;
  /** The file has every row of the blocks in this range. */
  readonly fromHeight: number;
  readonly toHeight: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Path in the folder, `<table>/chain=<chain>/<day>.<…>.parquet`. */
  readonly path: string;
  /** Address of the file. */
  readonly url: string;
}

/** A day of a chain in one table, as the folder's notes record it. */
export interface DatasetDay {
  readonly chain: string;
  readonly day: string;
  /** Identifies what the rows follow from: while it is unchanged, so is the file. */
  readonly basis: string;
  /** Null for a day without rows. */
  readonly file: Omit<DatasetFile, 'url'> | null;
}

const FILE = '\\d{4}-\\d\\d-\\d\\d(\\.g\\d+(-\\d+)?)?\\.[0-9a-f]{16}\\.parquet';

/** Path of a file that a folder may serve. */
export const DATASET_PATH = new RegExp(`^[a-z_]+/chain=${CHAIN_NAME}/${FILE}$`);
