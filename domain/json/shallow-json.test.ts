import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseExact, stringifyExact } from './exact-json.ts';
import { isTooDeep, MOST_LEVELS, parseShallow } from './shallow-json.ts';

const nested = (levels: number, open = '[', close = ']') => `${open.repeat(levels)}1${close.repeat(levels)}`;

/** Texts whose brackets, quotes and backslashes open no levels. */
const text = fc.array(fc.constantFrom('[', '{', '"', '\\', ']', '}', 'é', '\0')).map((parts) => parts.join(''));
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.integer(),
    text,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(text, tie('tree'), { maxKeys: 4 }),
  ),
}));

it('reads JSON of up to 64 levels as parseExact does', () => {
  fc.assert(
    fc.property(tree, (value) => {
      const written = JSON.stringify(value);
      expect(isTooDeep(written)).toBe(false);
      expect(parseShallow(written)).toEqual(parseExact(written));
    }),
  );
  expect(stringifyExact(parseShallow(nested(MOST_LEVELS)))).toBe(nested(MOST_LEVELS));
  expect(isTooDeep(nested(MOST_LEVELS))).toBe(false);
});

it('reads a value below them as its text, wherever it is', () => {
  fc.assert(
    fc.property(tree, tree, fc.integer({ min: 1, max: 6_000 }), (before, after, more) => {
      const deep = nested(more, '[', ']');
      const around = (value: unknown) => {
        let made = value;
        for (let level = 1; level < MOST_LEVELS; level++) made = { '"[': made };
        return { before, made, after };
      };
      const marked = JSON.stringify(around('the deep one'));
      const written = marked.replace('"the deep one"', () => deep);
      expect(isTooDeep(written)).toBe(true);
      expect(JSON.parse(stringifyExact(parseShallow(written)))).toEqual(JSON.parse(JSON.stringify(around(deep))));
    }),
    { numRuns: 50 },
  );
});

it('terminates for a text that is not JSON', () => {
  fc.assert(fc.property(fc.string(), text, (some, brackets) => void isTooDeep(some + brackets)));
  expect(isTooDeep('"\\')).toBe(false);
});
