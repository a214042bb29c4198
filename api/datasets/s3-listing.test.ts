/** Compares listings, page by page, with a plain walk over all keys. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { DatasetFile } from '../../schemas/datasets/manifest.ts';
import { InvalidListing, listObjects } from './s3-listing.ts';
import type { ListedObject } from './served-folder.ts';

const file = { bytes: 7, sha256: 'ab'.repeat(32) } as DatasetFile;
const folder = (keys: readonly string[]): ListedObject[] =>
  [...new Set(keys)].sort().map((key) => ({ key, object: file, changedAt: new Date(0) }));

const values = (xml: string, name: string) =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, value = '']) => value);

/** How each version of ListObjects requests the next page. */
const VERSIONS = {
  2: { fixed: { 'list-type': '2' }, next: 'NextContinuationToken', parameter: 'continuation-token' },
  1: { fixed: {}, next: 'NextMarker', parameter: 'marker' },
} as const;

interface Wish {
  readonly version: keyof typeof VERSIONS;
  readonly prefix: string;
  readonly delimiter: string;
  readonly most: number;
}

/** Returns all pages of a listing. */
function pagesOf(objects: readonly ListedObject[], { version, prefix, delimiter, most }: Wish): string[][] {
  const pages: string[][] = [];
  const { fixed, next, parameter } = VERSIONS[version];
  for (let token: string | undefined = ''; token !== undefined; ) {
    const query = new URLSearchParams({ ...fixed, prefix, delimiter, 'max-keys': String(most) });
    if (token) query.set(parameter, token);
    const xml = listObjects(objects, 'http://x/', query);
    const common = [...xml.matchAll(/<CommonPrefixes><Prefix>([^<]*)<\/Prefix>/g)].map(([, value = '']) => value);
    pages.push([...values(xml, 'Key'), ...common]);
    [token] = values(xml, next);
    expect(values(xml, 'IsTruncated')).toEqual([String(token !== undefined)]);
    expect(pages.length).toBeLessThan(1000);
  }
  return pages;
}

const part = fc.constantFrom('a', 'b', 'chain=x', 'z.json');
const keys = fc.array(
  fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/')),
  { maxLength: 40 },
);
const wishes = fc.record({
  version: fc.constantFrom(1, 2),
  prefix: fc.constantFrom('', 'a', 'a/', 'b/chain=x/', 'zz'),
  delimiter: fc.constantFrom('', '/'),
  most: fc.integer({ min: 1, max: 5 }),
});

it('listings contain each key and common prefix once, in order, on pages of any length', () => {
  fc.assert(
    fc.property(keys, wishes, (all, wish) => {
      const { prefix, delimiter, most } = wish;
      const expected = new Set<string>();
      for (const { key } of folder(all)) {
        if (!key.startsWith(prefix)) continue;
        const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
        expected.add(end < 0 ? key : key.slice(0, end + 1));
      }
      const pages = pagesOf(folder(all), wish);
      for (const page of pages.slice(0, -1)) expect(page.length).toBe(most);
      expect(pages.flat().sort()).toEqual([...expected].sort());
    }),
  );
});

it('listings read only as many keys as a page needs', () => {
  let looks = 0;
  const keys = Array.from(
    { length: 100_000 },
    (_, number) => `t${String(number % 10)}/chain=x/${String(number).padStart(6, '0')}`,
  );
  const counted = new Proxy(folder(keys), {
    get(target, name) {
      looks += 1;
      return Reflect.get(target, name);
    },
  });
  const xml = listObjects(counted, 'http://x/', new URLSearchParams({ 'list-type': '2', delimiter: '/' }));
  expect(values(xml, 'Prefix').slice(1)).toEqual(Array.from({ length: 10 }, (_, number) => `t${number}/`));
  expect(looks).toBeLessThan(1_000);
});

it.each([
  [{ 'max-keys': '-1' }, 'max-keys is a whole number'],
  [{ 'list-type': '3' }, 'list-type is 2, or is left out for the first version of ListObjects'],
  [{ 'encoding-type': 'base64' }, 'encoding-type can only be url'],
])('listings refuse %j', (query, message) => {
  expect(() => listObjects([], '', new URLSearchParams(query as Record<string, string>))).toThrow(
    new InvalidListing(message),
  );
});
