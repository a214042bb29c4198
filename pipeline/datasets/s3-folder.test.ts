/** Reads the list of a bucket in any order of the members of an entry. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DatasetFolder } from './folder.ts';
import { openS3Folder } from './s3-folder.ts';

const ENVIRONMENT = { AWS_ACCESS_KEY_ID: 'user', AWS_SECRET_ACCESS_KEY: 'secret' };
let pages: readonly string[] = [];
let server: Server;
let folder: DatasetFolder;
beforeAll(async () => {
  server = createServer(({ url = '' }, answer) => {
    const place = Number(new URL(url, 'http://host').searchParams.get('continuation-token'));
    answer.end(pages[place]);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  folder = await openS3Folder({ bucket: 'mine', prefix: 'of', endpoint, environment: ENVIRONMENT, signal });
});
afterAll(async () => {
  await folder?.close();
  server?.close();
});

/** Other members that Amazon and Google write. */
const OTHERS = [
  '<Generation>1360887697105000</Generation>',
  '<MetaGeneration>1</MetaGeneration>',
  '<ETag>"0123"</ETag>',
  '<Size>12</Size>',
  '<StorageClass>STANDARD</StorageClass>',
  '<Owner><ID>75aa57f09aa0c8caeab4f8c24e99d10f</ID><DisplayName>Key</DisplayName></Owner>',
];
const entry = fc.record({
  name: fc.string({ unit: 'grapheme', minLength: 1 }).filter((name) => name.isWellFormed()),
  writtenAt: fc.integer({ min: 0, max: 2 ** 41 }),
  others: fc.subarray(OTHERS),
  order: fc.array(fc.nat(), { minLength: 8, maxLength: 8 }),
  blank: fc.constantFrom('', '\n  '),
});

function contents({ name, writtenAt, others, order, blank }: typeof entry extends fc.Arbitrary<infer T> ? T : never) {
  const key = `<Key>of/${encodeURIComponent(name)}.parquet</Key>`;
  const members = [key, `<LastModified>${new Date(writtenAt).toISOString()}</LastModified>`, ...others]
    .map((text, index) => ({ text, place: order[index] ?? 0 }))
    .sort((a, b) => a.place - b.place)
    .map(({ text }) => text);
  return `<Contents>${blank}${members.join(blank)}${blank}</Contents>`;
}

const page = (entries: readonly string[], next: number | null): string =>
  `<?xml version="1.0"?><ListBucketResult><Name>mine</Name><Prefix>of/</Prefix>${entries.join('\n')}${
    next === null ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`
  }</ListBucketResult>`;

async function listed() {
  const found: { path: string; writtenAt: number }[] = [];
  for await (const file of folder.files()) found.push(file);
  return found;
}

it('lists every file, whatever the order', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.array(entry, { maxLength: 4 }), { minLength: 1, maxLength: 3 }), async (given) => {
      pages = given.map((entries, index) => page(entries.map(contents), index + 1 < given.length ? index + 1 : null));
      expect(await listed()).toEqual(
        given.flat().map(({ name, writtenAt }) => ({ path: `${name}.parquet`, writtenAt })),
      );
    }),
    { numRuns: 40 },
  ));

it.each([
  '<Contents><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>',
  '<Contents><Key/><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>',
  '<Contents><Key>of/a.parquet</Key></Contents>',
  '<Contents><Key>of/a.parquet</Key><LastModified>yesterday</LastModified></Contents>',
])('refuses %s', async (unknown) => {
  pages = [page([unknown], null)];
  await expect(listed()).rejects.toMatchObject({
    code: 's3_listing_unknown',
    message: expect.stringContaining('s3://mine/of'),
  });
});

it('reads the list of a server that does not encode names, with a bare % in one of them', async () => {
  const keys = ['of/100%.parquet', 'of/blocks/chain=vrsc/2026-01-01.0123456789abcdef.parquet'];
  const written = '<LastModified>2026-01-01T00:00:00.000Z</LastModified>';
  pages = [
    page(
      keys.map((key) => `<Contents><Key>${key}</Key>${written}</Contents>`),
      null,
    ),
  ];
  expect((await listed()).map(({ path }) => `of/${path}`)).toEqual(keys);
});
