import fc from 'fast-check';
import { expect, it } from 'vitest';
import { quoteNumbers } from './quote-numbers.ts';

const quoted = (json: string) => Buffer.concat([...quoteNumbers(Buffer.from(json))]).toString();

/** Numbers that JSON can write and no double can represent. */
const written = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.constantFrom('0', '7', '123456789012345678'),
    fc.constantFrom('', '.5', '.00000001'),
    fc.constantFrom('', 'e5', 'E+400', 'e-7'),
  )
  .map((parts) => parts.join(''));
const space = fc.constantFrom('', ' ', '\n\t');

/** The same JSON twice: with numbers, and with strings in their place. */
type Pair = readonly [json: string, asText: string];
const same = (text: string): Pair => [text, text];
const enclosed = (pairs: readonly Pair[], [open, close]: string, gap: string): Pair => {
  const side = (at: 0 | 1) => `${open}${gap}${pairs.map((pair) => pair[at]).join(`${gap},`)}${gap}${close}`;
  return [side(0), side(1)];
};
const text = fc
  .oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"', '\\', '\\"1', '1,2', 'é7'))
  .map((each) => JSON.stringify(each));
const { json } = fc.letrec<{ json: Pair }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    written.map((number): Pair => [number, `"${number}"`]),
    text.map(same),
    fc.constantFrom('true', 'false', 'null').map(same),
    fc.tuple(fc.array(tie('json')), space).map(([items, gap]) => enclosed(items, '[]', gap)),
    fc.tuple(fc.array(fc.tuple(text, tie('json'))), space).map(([members, gap]) =>
      enclosed(
        members.map(([key, [plain, asText]]): Pair => [`${key}:${plain}`, `${key}:${asText}`]),
        '{}',
        gap,
      ),
    ),
  ),
}));

it('turns each number into a string of its digits and leaves the rest unchanged', () =>
  fc.assert(
    fc.property(json, ([plain, asText]) => {
      expect(quoted(plain)).toBe(asText);
    }),
  ));

it('works wherever the text is divided, and for any number of numbers', () => {
  for (const pad of [0, 1, 2, 3]) {
    const numbers = `[${' '.repeat(pad)}${'1,'.repeat(100_000)}-2.5e7]`;
    expect(quoted(numbers)).toBe(`[${' '.repeat(pad)}${'"1",'.repeat(100_000)}"-2.5e7"]`);
    const long = `[${' '.repeat(pad)}${'1'.repeat(200_000)},"${'\\"1'.repeat(60_000)}"]`;
    expect(quoted(long)).toBe(`[${' '.repeat(pad)}"${'1'.repeat(200_000)}","${'\\"1'.repeat(60_000)}"]`);
  }
  expect(quoted(`${'1,'.repeat(40_000)}1`)).toBe(`${'"1",'.repeat(40_000)}"1"`);
});
