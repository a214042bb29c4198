/** Schemas of `/api/datasets/`: the index of the tables, and the manifest of one table. */
import { DATASET_PATH } from '../../../schemas/datasets/manifest.ts';
import {
  array,
  boolean,
  hash,
  height,
  integer,
  isoDate,
  nullableInteger,
  nullableString,
  object,
  string,
} from '../../schema/json-schema.ts';

const day = { ...isoDate, description: 'UTC day of the chain’s clock' } as const;
const schemaVersion = {
  ...integer,
  description: 'Rises when a column is removed or changes its meaning or type, not when one is added',
} as const;

const file = object({
  table: string,
  chain: string,
  day,
  closed: { ...boolean, description: 'Whether the day is closed: its file will not change' },
  schemaVersion,
  generation: { ...nullableInteger, description: 'The served generation; null for a table without prices' },
  rows: integer,
  minHeight: { ...height, description: 'Lowest height of a row' },
  maxHeight: { ...height, description: 'Highest height of a row' },
  fromHeight: { ...height, description: 'First block whose rows are all in the file' },
  toHeight: { ...height, description: 'Last block whose rows are all in the file' },
  bytes: integer,
  sha256: hash,
  path: { type: 'string', pattern: DATASET_PATH.source, description: 'Path within the folder of the data set' },
  url: { ...string, description: 'Download address; supports range requests' },
});

export const datasetManifest = array(file, 'By chain and day');

export const datasetIndex = object({
  schemaVersion,
  s3: object(
    { endpoint: string, bucket: string, urlStyle: { type: 'string', enum: ['path'] }, useSsl: boolean },
    'The same folder as an S3 bucket, anonymous and read-only',
  ),
  tables: array(
    object({
      table: string,
      summary: string,
      manifest: { ...string, description: 'Address of the manifest, which lists the files' },
      files: integer,
      rows: integer,
      bytes: integer,
      columns: array(object({ name: string, type: string, unit: nullableString, text: string })),
    }),
  ),
});
