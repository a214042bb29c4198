import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SEED } from '../test/setup/seed.ts';
import { isJson } from './json-scan.ts';

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const fragment = fc.constantFrom(
  ...[
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"',
    '"a"',
    '""',
    '"\\u12f',
    '\\',
    '0',
    '-',
    '1.5',
    '1.',
    '.5',
    '01',
    '1e5',
    '1E+',
    '-0',
  ],
  ...[
    'true',
    'false',
    'null',
    'nul',
    ' ',
    '\n',
    '\t',
    '\u0000',
    '\u00a0',
    '"\\n"',
    '"\\x"',
    '"\u0001"',
    '\ufeff',
    'e',
    'é',
  ],
);

test(`says of every text what JSON.parse says (seed ${SEED})`, () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.array(fragment, { maxLength: 12 }).map((parts) => parts.join('')),
        fc.tuple(fc.json(), fc.nat(), fragment).map(([text, at, part]) => {
          const place = at % (text.length + 1);
          return text.slice(0, place) + part + text.slice(place + 1);
        }),
      ),
      (text) => {
        expect([text, isJson(text)]).toEqual([text, parses(text)]);
      },
    ),
    { seed: SEED, numRuns: 5000 },
  );
});

test('megabytes of brackets take no memory to speak of', () => {
  const size = 2_000_000;
  const texts = ['['.repeat(size) + ']'.repeat(size), `[${'[],'.repeat(size / 2)}[]]`, `[${'9'.repeat(size)}]`];
  for (const text of texts) expect(isJson(text)).toBe(true);
  expect(isJson('['.repeat(size))).toBe(false);
});
