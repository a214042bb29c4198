import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SEED } from '../../test/setup/seed.ts';
import { isDaemonJson } from './json-scan.ts';

/** Whether JSON.parse accepts the text and it contains no half surrogate pair. */
function parses(text: string): boolean {
  let isWhole = true;
  try {
    JSON.parse(text, (key, value: unknown) => {
      isWhole &&= key.isWellFormed() && (typeof value !== 'string' || value.isWellFormed());
      return value;
    });
  } catch {
    return false;
  }
  return isWhole;
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
    '"\\ud83d\\ude00"',
    '"\\uD83D"',
    '"\\ude00"',
    '"\\ud83d\\n"',
    '"\\ud83d\\ud83d\\ude00"',
    '"\\u0000"',
    '"\\/\\b"',
  ],
);

test(`accepts the same texts as JSON.parse, except for half a surrogate pair (seed ${SEED})`, () => {
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
        expect([text, isDaemonJson(text)]).toEqual([text, parses(text)]);
      },
    ),
    { seed: SEED, numRuns: 5000 },
  );
});

test('megabytes of brackets take hardly any memory', () => {
  const size = 2_000_000;
  const texts = ['['.repeat(size) + ']'.repeat(size), `[${'[],'.repeat(size / 2)}[]]`, `[${'9'.repeat(size)}]`];
  for (const text of texts) expect(isDaemonJson(text)).toBe(true);
  expect(isDaemonJson('['.repeat(size))).toBe(false);
});
