import { expect, it } from 'vitest';
import { stringifyExact } from '../../../domain/json/exact-json.ts';
import { turnsDuring } from '../../../test/support/infra/loop-turns.ts';
import { readChanges } from '../../state/identity-changes.ts';
import { decodeContent } from './multimap-content.ts';

const KEY = 'iK7a5JNJnbeuYWVHCDRpJosj3irGJ5Qa8c';
const hex = (text: string) => Buffer.from(text).toString('hex');
const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;

it('hex of JSON is decoded up to 64 levels, and left out if it is deeper', async () => {
  for (const levels of [2, 64, 66, 4_500, 100_000]) {
    const decoded = await decodeContent({ [KEY]: [hex(nested(levels)), hex('7')] });
    expect(stringifyExact(decoded)).toBe(`{"${KEY}":[${levels <= 64 ? `${nested(levels)},` : ''}7]}`);
  }
});

it('a value of megabytes is read like a small one', async () => {
  const text = 'é'.repeat(4_000_000);
  expect(await decodeContent({ [KEY]: [hex(JSON.stringify(text)), hex(text), '00'.repeat(4_000_000)] })).toEqual({
    [KEY]: [text],
  });
});

it('brackets inside strings do not count as levels', async () => {
  const text = JSON.stringify('[{"\\'.repeat(100));
  expect(stringifyExact(await decodeContent({ [KEY]: hex(text) }))).toBe(`{"${KEY}":[${text}]}`);
});

it('numbers keep all their digits', async () => {
  const text = '{"sat":9007199254740993,"ratio":0.10,"large":1e400}';
  expect(stringifyExact(await decodeContent({ [KEY]: hex(text) }))).toBe(`{"${KEY}":[${text}]}`);
});

it('changes of any depth are printed', () => {
  const shown = stringifyExact(
    readChanges(`[{"field":"contentmultimap","old":{},"new":{"${KEY}":[${nested(10_000)}]}}]`),
  );
  const [change] = JSON.parse(shown);
  expect(change).toMatchObject({ field: 'contentmultimap', old: {} });
  expect(shown.length).toBeGreaterThan(nested(10_000).length);
});

it('decoding content with many keys yields to the event loop', async () => {
  const keys = Array.from({ length: 100_000 }, (_, at) => [`k${at}`, hex(`{"at":${at}}`)]);
  const decoding = decodeContent({ ...Object.fromEntries(keys), constructor: hex('1') });
  expect(await turnsDuring(decoding)).toBeGreaterThan(3);
  const decoded = await decoding;
  expect(Object.keys(decoded)).toHaveLength(100_001);
  expect(decoded).toMatchObject({ k7: [{ at: 7 }], constructor: [1] });
});
