/** Statements can read members of JSON that contains any texts. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { readableJson } from './json-columns.ts';

let stores: TestStores;

beforeAll(async () => {
  stores = await createTestStores();
});

afterAll(() => stores.close());

/** Texts in which an escape of U+0000 is easily mistaken for one of a backslash. */
const text = fc
  .array(fc.oneof(fc.constantFrom('\0', '\\', 'u0000', '"', 'é', '🚀'), fc.string({ unit: 'grapheme' })))
  .map((parts) => parts.join(''));

it('reads every text unchanged, except U+0000', async () => {
  let replaced = 0;
  await fc.assert(
    fc.asyncProperty(text, text, async (key, value) => {
      const { rows } = await stores.postgres.pool.query<{ shown: string; of: string }>(
        `SELECT (${readableJson('held')}) ->> 'shown' AS shown, (${readableJson('held')}) -> 'of' ->> 0 AS of
          FROM (SELECT $1::json AS held) AS made`,
        [JSON.stringify({ shown: value, of: [key], [`${key} `]: value })],
      );
      const readable = (written: string) => written.replaceAll('\0', '\ufffd');
      expect(rows).toEqual([{ shown: readable(value), of: readable(key) }]);
      if (value.includes('\0')) replaced += 1;
    }),
  );
  expect(replaced).toBeGreaterThan(10);
});
