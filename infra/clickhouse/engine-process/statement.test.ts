/** Parameters with any content reach the real engine unchanged, and a slow statement with parameters does not block others. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ClickHouse } from '../clickhouse.ts';
import { openEmbeddedClickHouse } from '../embedded.ts';
import { formatParameter } from './statement.ts';

let folder: string;
let clickhouse: ClickHouse;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'verustream-parameters-'));
  clickhouse = await openEmbeddedClickHouse(folder);
});
afterAll(async () => {
  await clickhouse?.close();
  rmSync(folder, { recursive: true, force: true });
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom("'", '"', '\\', '\t', '\n', '\r', '\b', '\f', '\0', '{', '}', ';', '-', 'N', 'x', '0', '%'),
  }),
);
const signed = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

it('returns texts, numbers and lists of them unchanged, on several connections at once', async () => {
  const sql =
    'SELECT {text:String} AS text, {texts:Array(String)} AS texts, {number:Int64} AS number, {numbers:Array(Int64)} AS numbers';
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ text: anyText, texts: fc.array(anyText), number: signed, numbers: fc.array(signed) }), {
        minLength: 1,
        maxLength: 8,
      }),
      async (given) => {
        const answers = await Promise.all(given.map((params) => clickhouse.query(sql, params)));
        const expected = given.map((each) => ({
          ...each,
          number: String(each.number),
          numbers: each.numbers.map(String),
        }));
        expect(answers).toEqual(expected.map((row) => [row]));
      },
    ),
    { numRuns: 60 },
  );
});

it('null is NULL, and an undefined parameter is missing', async () => {
  const params = { text: null, numbers: [1, null], absent: undefined };
  const sql = 'SELECT {text:Nullable(String)} AS text, {numbers:Array(Nullable(Int8))} AS numbers';
  expect(await clickhouse.query(sql, params)).toEqual([{ text: null, numbers: [1, null] }]);
  await expect(clickhouse.query('SELECT {absent:String}', params)).rejects.toMatchObject({ code: '456' });
});

it('a slow statement with parameters does not block others with parameters', async () => {
  const order: string[] = [];
  const ask = async (name: string, seconds: number) => {
    await clickhouse.query('SELECT sleep({seconds:Float32})', { seconds });
    order.push(name);
  };
  await Promise.all([ask('slow', 3), ask('quick', 0)]);
  expect(order).toEqual(['quick', 'slow']);
});

it('refuses invalid values and names of parameters', async () => {
  for (const value of [undefined, {}, () => 1, Symbol('x'), ['a', undefined]]) {
    expect(() => formatParameter(value)).toThrow(TypeError);
  }
  await expect(clickhouse.query('SELECT 1', { "a = '1'; DROP": 'x' })).rejects.toThrow(/no name of a parameter/);
  expect(await clickhouse.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
});
