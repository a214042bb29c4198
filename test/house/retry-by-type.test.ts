/** No code decides by the text of an error, which its author may change; errors are recognised by class or code. */
import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const PROGRAM = /^(api|commands|domain|infra|pipeline|processors|schemas)\/|^\w+\.ts$/;
const TEXT = String.raw`(?:err|error|cause|thrown|fault|reason|failure)\??\.message`;
const TESTS_OF_TEXT = [
  new RegExp(String.raw`\.(?:test|exec)\(\s*${TEXT}`),
  new RegExp(String.raw`${TEXT}\??\.(?:match|matchAll|includes|startsWith|endsWith|search|indexOf)\(`),
  new RegExp(String.raw`${TEXT}\s*(?:===|!==|==|!=)`),
  new RegExp(String.raw`(?:===|!==)\s*${TEXT}\b`),
  new RegExp(String.raw`switch\s*\(\s*${TEXT}`),
];
/** Reads from the text which table the error is about, after its class has identified it. */
const READS_A_PATH = new Set(['infra/clickhouse/known-damage.ts']);

const decidesByText = (text: string): boolean => TESTS_OF_TEXT.some((pattern) => pattern.test(text));

it('no program file decides by the text of an error', async () => {
  const files = (await sourceFiles()).filter(({ path }) => PROGRAM.test(path) && !path.endsWith('.test.ts'));
  expect(files.length).toBeGreaterThan(300);
  const deciding = files.filter(({ text }) => decidesByText(text)).map(({ path }) => path);
  expect(deciding).toEqual([...READS_A_PATH]);
});

it.each([
  'LOST.test(error.message)',
  "error.message.includes('terminated')",
  "cause instanceof Error && cause.message === 'database is locked'",
  'switch (error.message) {',
])('it would see %s', (code) => {
  expect(decidesByText(code)).toBe(true);
});
