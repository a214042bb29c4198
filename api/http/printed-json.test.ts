/** Printing a large answer lets other work run in between. */
import { expect, it } from 'vitest';
import { turnsDuring } from '../../test/support/infra/loop-turns.ts';
import { printedJson, withTextNumbers } from './printed-json.ts';

it.each([false, true])('rows of an answer, numbers as text: %s', async (isText) => {
  const rows = Array.from({ length: 200_000 }, (_, height) => ({ height, hash: 'a', amount: 1n }));
  const amount = isText ? '"1"' : '1';
  const printed = printedJson({ results: rows }, isText);
  expect(await turnsDuring(printed)).toBeGreaterThan(3);
  expect((await printed).toString().endsWith(`"hash":"a","amount":${amount}}]}\n`)).toBe(true);
});

it('numbers of JSON that a daemon has printed', async () => {
  const json = Buffer.from(`[${'1,'.repeat(6_000_000)}1]`);
  const quoted = withTextNumbers(json);
  expect(await turnsDuring(quoted)).toBeGreaterThan(3);
  expect((await quoted).byteLength).toBe(json.byteLength + 2 * 6_000_001);
});
