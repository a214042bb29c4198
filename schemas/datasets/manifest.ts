/** What a data-set folder says of its files. */

/** Rises when a column is removed or changes its meaning or type; a new column alone leaves it. */
export const DATASET_SCHEMA_VERSION = 1;

/** A file of the manifest `<table>.json`, which is the array of them. */
export interface DatasetFile {
  readonly table: string;
  readonly chain: string;
  /** UTC day of the chain's clock. */
  readonly day: string;
  /** Whether the day is closed: a file of its rows will not change. */
  readonly closed: boolean;
  readonly schemaVersion: number;
  /** The served generation; null for a table without prices. */
  readonly generation: number | null;
  readonly rows: number;
  /** Least and greatest height of a row. */
  readonly minHeight: number;
  readonly maxHeight: number;
  /** Blocks of which it holds every row. */
  readonly fromHeight: number;
  readonly toHeight: number;
  readonly bytes: number;
  readonly sha256: string;
  /** In the folder, `<table>/chain=<chain>/<day>.<…>.parquet`. */
  readonly path: string;
  /** Where it can be read. */
  readonly url: string;
}

/** A day of a chain in one table, as the folder's own notes keep it. */
export interface DatasetDay {
  readonly chain: string;
  readonly day: string;
  /** What the rows follow from: while it stays, the file does. */
  readonly basis: string;
  /** Null for a day without rows. */
  readonly file: Omit<DatasetFile, 'url'> | null;
}

const CHAIN = '[a-z][a-z0-9_-]{0,31}';
const FILE = '\\d{4}-\\d\\d-\\d\\d(\\.g\\d+(-\\d+)?)?\\.[0-9a-f]{16}\\.parquet';

/** Path of a file that a folder may serve. */
export const DATASET_PATH = new RegExp(`^[a-z_]+/chain=${CHAIN}/${FILE}$`);
