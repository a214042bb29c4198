import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { chooseEncoding, compressed, isCompressible } from './compression.ts';
import { TEXT_NUMBERS_TYPE } from './numbers.ts';

it.each([
  ['', null],
  ['identity', null],
  ['gzip', 'gzip'],
  ['GZIP, deflate', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['br;q=0.000, gzip;q=0', null],
  ['*', null],
  ['x'.repeat(1000), null],
])('Accept-Encoding %j: %s', (sent, encoding) => expect(chooseEncoding(sent)).toBe(encoding));

it('a compressed body decompresses to the original, and is compressed only once', async () => {
  const body = Buffer.from(JSON.stringify(Array.from({ length: 1000 }, (_, n) => ({ n }))));
  expect(brotliDecompressSync(await compressed(body, 'br')).equals(body)).toBe(true);
  expect(gunzipSync(await compressed(body, 'gzip')).equals(body)).toBe(true);
  expect(compressed(body, 'br')).toBe(compressed(body, 'br'));
});

it('short bodies and images are not compressed', () => {
  expect(isCompressible(Buffer.alloc(100), 'application/json')).toBe(false);
  expect(isCompressible(Buffer.alloc(10_000), 'image/png')).toBe(false);
  expect(isCompressible(Buffer.alloc(10_000), 'application/problem+json')).toBe(true);
  expect(isCompressible(Buffer.alloc(10_000), `${TEXT_NUMBERS_TYPE}; charset=utf-8`)).toBe(true);
});
