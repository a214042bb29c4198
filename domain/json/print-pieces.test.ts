import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { expect, it } from 'vitest';
import { stringifyExact } from './exact-json.ts';
import { printPieces } from './print-pieces.ts';

const scalar = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.bigInt(),
  fc.boolean(),
  fc.constantFrom(null, undefined, new LosslessNumber('1e400'), new Date(0), { toJSON: () => undefined }),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(tie('value')), fc.dictionary(fc.string(), tie('value'))),
}));

it('the pieces together are the text of stringifyExact', () =>
  fc.assert(
    fc.property(value, (printed) => {
      let text: string | null = null;
      try {
        text = stringifyExact(printed);
      } catch (error) {
        expect(() => [...printPieces(printed)]).toThrow((error as Error).message);
      }
      if (text !== null) expect([...printPieces(printed)].join('')).toBe(text);
      // Too large to be printed at once: printed member by member.
      const large = { printed, list: [printed, { printed }], pad: 'x'.repeat(20_000) };
      expect([...printPieces(large)].join('')).toBe(stringifyExact(large));
    }),
  ));

it('members of members are printed one by one', () => {
  const row = { text: 'x'.repeat(1000) };
  const pieces = [...printPieces({ results: { of: Array.from({ length: 1000 }, () => row) } })];
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(20_000);
});
