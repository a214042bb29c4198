/** /api/datasets/; api/datasets/register-datasets.ts serves these paths. */
import { DATASET_TABLES } from '../../../schemas/datasets/tables.ts';
import { pathParameter } from '../../http/parameters.ts';
import { fileRoute } from '../../http/route.ts';
import { datasetIndex, datasetManifest } from './schema.ts';

const index = fileRoute({
  path: '/api/datasets/',
  summary: 'Tables of the data set, with their columns and manifests',
  parameters: {},
  response: datasetIndex,
});

const manifest = fileRoute({
  path: '/api/datasets/:manifest',
  summary: 'Parquet files of a table of the data set; 404 before the first file is written',
  parameters: {
    manifest: pathParameter(
      `Name of a table with .json: ${DATASET_TABLES.map(({ name }) => `${name}.json`).join(', ')}`,
      {
        type: 'string',
        pattern: '^[a-z_]+\\.json$',
      },
    ),
  },
  response: datasetManifest,
});

export const datasetRoutes = [index, manifest];
