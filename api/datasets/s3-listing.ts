/** S3 answers for the data set as XML: ListObjects in both versions, and errors. Query engines expand `*` only in S3 buckets. */
import { partitionPoint } from '../../domain/partition-point.ts';
import type { DatasetFile } from '../../schemas/datasets/manifest.ts';
import { type ListedObject, manifestObject } from './served-folder.ts';

export const BUCKET = 'datasets';
const MOST_KEYS = 1000;
const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';
const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

/** A query that S3 would refuse too. */
export class InvalidListing extends Error {}

/**
 * Lists one page; the time depends only on the length of the page, not of the folder. `objects`: sorted by key. `base`: prefix of the URLs in
 * manifests. @throws InvalidListing
 */
export function listObjects(objects: readonly ListedObject[], base: string, query: URLSearchParams): string {
  const text = (name: string) => query.get(name) ?? '';
  const [prefix, delimiter] = [text('prefix'), text('delimiter')];
  const most = maxKeys(query.get('max-keys'));
  const { after, before, beyond } = places(query);
  const encoded = encoder(query.get('encoding-type'));
  const listed: ListedObject[] = [];
  const prefixes: string[] = [];
  let last = '';
  let isTruncated = false;
  const [start = ''] = [prefix, after].sort().reverse();
  for (let at = firstFrom(objects, start); most > 0; ) {
    const entry = objects[at];
    if (!entry?.key.startsWith(prefix)) break;
    const common = commonPrefix(entry.key, prefix, delimiter);
    // Continues after all keys that a common prefix stands for.
    const next = common === null ? at + 1 : firstFrom(objects, common + AFTER_ALL);
    if ((common ?? entry.key) > after) {
      if (listed.length + prefixes.length === most) {
        isTruncated = true;
        break;
      }
      last = common ?? entry.key;
      if (common === null) listed.push(entry);
      else prefixes.push(common);
    }
    at = next;
  }
  const members = [
    element('Name', BUCKET),
    element('Prefix', encoded(prefix)),
    delimiter && element('Delimiter', encoded(delimiter)),
    query.has('encoding-type') && element('EncodingType', 'url'),
    ...before(encoded, listed.length + prefixes.length),
    isTruncated && beyond(last, encoded),
    element('MaxKeys', String(most)),
    element('IsTruncated', String(isTruncated)),
    ...listed.map(({ key, object, changedAt }) => {
      const { size, tag } = 'files' in object ? manifestObject(object, base) : sizeAndTag(object);
      const of = [
        element('Key', encoded(key)),
        element('LastModified', wholeSeconds(changedAt).toISOString()),
        element('ETag', `"${tag}"`),
        element('Size', String(size)),
        element('StorageClass', 'STANDARD'),
      ];
      return `<Contents>${of.join('')}</Contents>`;
    }),
    ...prefixes.map((common) => `<CommonPrefixes>${element('Prefix', encoded(common))}</CommonPrefixes>`),
  ];
  return `${XML}<ListBucketResult ${NAMESPACE}>${members.filter(Boolean).join('')}</ListBucketResult>`;
}

export const bucketLocation = (): string => `${XML}<LocationConstraint ${NAMESPACE}/>`;

export const s3Error = (code: string, message: string, resource: string): string =>
  `${XML}<Error>${element('Code', code)}${element('Message', message)}${element('Resource', resource)}</Error>`;

/** Rounds down to seconds as in HTTP, so that listings match the headers of the objects. */
const wholeSeconds = (time: Date): Date => new Date(Math.floor(time.getTime() / 1000) * 1000);

const sizeAndTag = ({ bytes, sha256 }: DatasetFile) => ({ size: bytes, tag: sha256.slice(0, 16) });

/** Greater than any character in a key. */
const AFTER_ALL = '\uffff';

/** Index of the first object at or after a key. */
const firstFrom = (objects: readonly ListedObject[], key: string) =>
  partitionPoint(objects, (object) => object.key < key);

function commonPrefix(key: string, prefix: string, delimiter: string): string | null {
  if (delimiter === '') return null;
  const end = key.indexOf(delimiter, prefix.length);
  return end < 0 ? null : key.slice(0, end + delimiter.length);
}

type Encode = (text: string) => string;

/** Where a page begins, and how the answer shows it: the only differences between the versions of ListObjects. */
interface Places {
  readonly after: string;
  before(encoded: Encode, keys: number): string[];
  beyond(last: string, encoded: Encode): string;
}

function places(query: URLSearchParams): Places {
  const text = (name: string) => query.get(name) ?? '';
  const version = text('list-type');
  if (version === '2') {
    const token = text('continuation-token');
    return {
      after: token === '' ? text('start-after') : Buffer.from(token, 'base64url').toString(),
      before: (encoded, keys) => [
        token && element('ContinuationToken', token),
        query.has('start-after') ? element('StartAfter', encoded(text('start-after'))) : '',
        element('KeyCount', String(keys)),
      ],
      beyond: (last) => element('NextContinuationToken', Buffer.from(last).toString('base64url')),
    };
  }
  if (version !== '') throw new InvalidListing('list-type is 2, or is left out for the first version of ListObjects');
  return {
    after: text('marker'),
    before: (encoded) => [element('Marker', encoded(text('marker')))],
    beyond: (last, encoded) => element('NextMarker', encoded(last)),
  };
}

function maxKeys(given: string | null): number {
  if (given === null || given === '') return MOST_KEYS;
  if (!/^\d{1,9}$/.test(given)) throw new InvalidListing('max-keys is a whole number');
  return Math.min(Number(given), MOST_KEYS);
}

function encoder(type: string | null): Encode {
  if (type === null) return (text) => text;
  if (type !== 'url') throw new InvalidListing('encoding-type can only be url');
  return (text) => encodeURIComponent(text).replaceAll('%2F', '/');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const element = (name: string, text: string): string =>
  `<${name}>${text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '')}</${name}>`;
