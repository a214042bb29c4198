/** The data set as an S3 bucket shows it: ListObjectsV2 and errors, as XML. No engine expands `*` over plain HTTP. */
import { type Manifest, manifestObject } from './served-folder.ts';

export const BUCKET = 'datasets';
const MOST_KEYS = 1000;
const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';
const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

interface Entry {
  readonly key: string;
  readonly size: number;
  readonly tag: string;
  readonly changedAt: Date;
}

/** A query that S3 would refuse as well. */
export class InvalidListing extends Error {}

/** All objects, by key. `base`: as of the manifests that are served. */
export function listedObjects(manifests: readonly Manifest[], base: string): Entry[] {
  const entries = manifests.flatMap((manifest) => {
    const { tag, size, changedAt } = manifestObject(manifest, base);
    const files = manifest.files.map(({ path, bytes, sha256 }) => {
      return { key: path, size: bytes, tag: sha256.slice(0, 16), changedAt };
    });
    return [{ key: `${manifest.table}.json`, size, tag, changedAt }, ...files];
  });
  return entries.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** @throws InvalidListing */
export function listObjects(entries: readonly Entry[], query: URLSearchParams): string {
  const text = (name: string) => query.get(name) ?? '';
  const [prefix, delimiter, token] = [text('prefix'), text('delimiter'), text('continuation-token')];
  const most = maxKeys(query.get('max-keys'));
  const after = token === '' ? text('start-after') : Buffer.from(token, 'base64url').toString();
  const encoded = encoder(query.get('encoding-type'));
  const listed: Entry[] = [];
  const prefixes = new Set<string>();
  let last = '';
  let isTruncated = false;
  for (const entry of entries) {
    if (!entry.key.startsWith(prefix)) continue;
    const common = commonPrefix(entry.key, prefix, delimiter);
    // A page that ended with a common prefix goes on behind all that it stands for.
    if (entry.key <= after || (common !== null && (common <= after || prefixes.has(common)))) continue;
    if (listed.length + prefixes.size === most) {
      isTruncated = true;
      break;
    }
    last = common ?? entry.key;
    if (common === null) listed.push(entry);
    else prefixes.add(common);
  }
  const members = [
    element('Name', BUCKET),
    element('Prefix', encoded(prefix)),
    delimiter && element('Delimiter', encoded(delimiter)),
    query.has('encoding-type') && element('EncodingType', 'url'),
    token && element('ContinuationToken', token),
    isTruncated && element('NextContinuationToken', Buffer.from(last).toString('base64url')),
    element('KeyCount', String(listed.length + prefixes.size)),
    element('MaxKeys', String(most)),
    element('IsTruncated', String(isTruncated)),
    ...listed.map(({ key, size, tag, changedAt }) => {
      const of = [
        element('Key', encoded(key)),
        element('LastModified', changedAt.toISOString()),
        element('ETag', `"${tag}"`),
        element('Size', String(size)),
        element('StorageClass', 'STANDARD'),
      ];
      return `<Contents>${of.join('')}</Contents>`;
    }),
    ...[...prefixes].map((common) => `<CommonPrefixes>${element('Prefix', encoded(common))}</CommonPrefixes>`),
  ];
  return `${XML}<ListBucketResult ${NAMESPACE}>${members.filter(Boolean).join('')}</ListBucketResult>`;
}

export const bucketLocation = (): string => `${XML}<LocationConstraint ${NAMESPACE}/>`;

export const s3Error = (code: string, message: string, resource: string): string =>
  `${XML}<Error>${element('Code', code)}${element('Message', message)}${element('Resource', resource)}</Error>`;

function commonPrefix(key: string, prefix: string, delimiter: string): string | null {
  if (delimiter === '') return null;
  const end = key.indexOf(delimiter, prefix.length);
  return end < 0 ? null : key.slice(0, end + delimiter.length);
}

function maxKeys(given: string | null): number {
  if (given === null || given === '') return MOST_KEYS;
  if (!/^\d{1,9}$/.test(given)) throw new InvalidListing('max-keys is a whole number');
  return Math.min(Number(given), MOST_KEYS);
}

function encoder(type: string | null): (text: string) => string {
  if (type === null) return (text) => text;
  if (type !== 'url') throw new InvalidListing('encoding-type can be url alone');
  return (text) => encodeURIComponent(text).replaceAll('%2F', '/');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const element = (name: string, text: string): string =>
  `<${name}>${text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '')}</${name}>`;
