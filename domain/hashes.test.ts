import { expect, it, test } from 'vitest';
import { isHash, isWrittenHash } from './hashes.ts';

const LOWER = 'ab'.repeat(32);

test.each([
  ['as the daemon prints it', LOWER, true, true],
  ['in upper case', LOWER.toUpperCase(), false, true],
  ['too short', LOWER.slice(1), false, false],
  ['too long', `${LOWER}a`, false, false],
  ['with a line break behind', `${LOWER}\n`, false, false],
  ['with a letter that is not hex', `g${LOWER.slice(1)}`, false, false],
])('a hash %s', (_, text, printed, written) => {
  expect([isHash(text), isWrittenHash(text)]).toEqual([printed, written]);
});

it('does not take a value that is not text for a hash', () => {
  expect([null, undefined, 7, [LOWER]].map(isHash)).toEqual([false, false, false, false]);
});
