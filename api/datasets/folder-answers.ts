/** Answers for the folder itself: the index of its tables, and listings of the bucket. Answers are cached by query until the folder changes. */
import { LRUCache } from 'lru-cache';
import { DATASET_SCHEMA_VERSION } from '../../schemas/datasets/manifest.ts';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { numbersAsText, SHARED_PARAMETERS, TEXT_NUMBERS_TYPE } from '../http/numbers.ts';
import { compileParameters } from '../http/parameters.ts';
import type { datasetIndex } from '../rest/datasets/schema.ts';
import type { Typed } from '../schema/json-schema.ts';
import { BUCKET, bucketLocation, listObjects } from './s3-listing.ts';
import type { ListedObject, ManifestForm, ServedFolder } from './served-folder.ts';

export interface FolderRequest {
  readonly isS3: boolean;
  readonly query: string;
  /** Origin by which this client reaches the service. */
  readonly origin: string;
}

export interface FolderAnswer {
  readonly body: Buffer;
  readonly type: string;
}

export type FolderAnswers = (asked: FolderRequest, base: string) => Promise<FolderAnswer>;

/** Room for the listings of fifty patterns: a scan begins with a page of a thousand keys, about 400 kB. */
const MOST_KEPT_BYTES = 20_000_000;
/** Parameters of the index and the manifests; files ignore them. */
const dataParameters = compileParameters(SHARED_PARAMETERS, []);

export function createFolderAnswers(folder: Pick<ServedFolder, 'objects' | 'manifests'>): FolderAnswers {
  const kept = new LRUCache<string, FolderAnswer>({
    maxSize: MOST_KEPT_BYTES,
    sizeCalculation: ({ body }, key) => body.length + 2 * key.length,
  });
  let keptOf: readonly ListedObject[] | null = null;

  return async (asked, base) => {
    const objects = await folder.objects();
    if (objects !== keptOf) kept.clear();
    keptOf = objects;
    const key = `${asked.isS3} ${base} ${asked.query}`;
    const known = kept.get(key);
    if (known) return known;
    const made = asked.isS3 ? listing(objects, base, asked) : indexAnswer(await folder.manifests(), base, asked);
    kept.set(key, made);
    return made;
  };
}

/** @throws ApiError invalid_parameter */
export function numbersOf({ query }: Pick<FolderRequest, 'query'>): ManifestForm {
  return dataParameters.read({}, query).numbers === 'text' ? 'text' : 'json';
}

/** @throws InvalidListing */
function listing(objects: readonly ListedObject[], base: string, { query }: FolderRequest): FolderAnswer {
  const parameters = new URLSearchParams(query);
  const text = parameters.has('location') ? bucketLocation() : listObjects(objects, base, parameters);
  return { body: Buffer.from(text), type: 'application/xml' };
}

type Manifests = Awaited<ReturnType<ServedFolder['manifests']>>;

/** @throws ApiError invalid_parameter */
function indexAnswer(manifests: Manifests, base: string, asked: FolderRequest): FolderAnswer {
  const isText = numbersOf(asked) === 'text';
  const whole = index(manifests, base, asked.origin);
  const body = Buffer.from(`${JSON.stringify(isText ? numbersAsText(whole) : whole, null, 1)}\n`);
  return { body, type: isText ? TEXT_NUMBERS_TYPE : 'application/json' };
}

function index(manifests: Manifests, base: string, origin: string): Typed<typeof datasetIndex> {
  return {
    schemaVersion: DATASET_SCHEMA_VERSION,
    s3: {
      endpoint: origin.replace(/^https?:\/\//, ''),
      bucket: BUCKET,
      urlStyle: 'path',
      useSsl: origin.startsWith('https:'),
    },
    tables: DATASET_TABLES.map(({ name, summary, columns }) => {
      const manifest = manifests.find(({ table }) => table === name);
      return {
        table: name,
        summary,
        manifest: `${base}${name}.json`,
        files: manifest?.files.length ?? 0,
        rows: manifest?.sums.rows ?? 0,
        bytes: manifest?.sums.bytes ?? 0,
        columns: columns.map(({ name: column, type, unit, text }) => ({ name: column, type, unit, text })),
      };
    }),
  };
}
