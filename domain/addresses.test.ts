import { expect, test } from 'vitest';
import { I_ADDRESS, R_ADDRESS, TRANSPARENT_ADDRESS } from './addresses.ts';
import { SYSTEM_ADDRESSES } from './system-addresses.ts';

const matches = (source: string, text: string): boolean => new RegExp(`^${source}$`).test(text);

test.each([
  ['i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV', [true, false, true]],
  ['RCG8KwJNDVwpUBcdoa6AoHqHVJsA1uMYMR', [false, true, true]],
  ['bQkjSLhLKHLDzD6Yd8LjBzUGMPUFAGgKLo', [false, false, true]],
  ['i5w5MuNik5NtLcYmNzcvaoixooEebB6MG', [false, false, false]],
  ['i5w5MuNik5NtLcYmNzcvaoixooEebB6MG0', [false, false, false]],
  ['zs1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq', [false, false, false]],
])('%s', (text, expected) => {
  expect([I_ADDRESS, R_ADDRESS, TRANSPARENT_ADDRESS].map((source) => matches(source, text))).toEqual(expected);
});

test('system addresses are key addresses', () => {
  for (const address of SYSTEM_ADDRESSES) expect(matches(R_ADDRESS, address), address).toBe(true);
});
