import { describe, expect, it, test } from 'vitest';
import {
  addressHash,
  hexAddress,
  I_ADDRESS,
  isIdentityAddress,
  isTransparentAddress,
  keyAddress,
  R_ADDRESS,
  TRANSPARENT_ADDRESS,
  toAddress,
} from './addresses.ts';
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

describe('isIdentityAddress', () => {
  test.each([
    ['i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV', true],
    ['i5w5MuNik5NtLcYmNzcvaoixooEebB6MGW', false],
    ['RQ55dLQ7uGnLx8scXfkaFV6QS6qVBGyxAG', false],
    ['xA91QPpBrHZto92NCU5KEjCqRveS4dAPrf', false],
    ['alice', false],
    ['', false],
  ])('%s: %s', (text, is) => {
    expect(isIdentityAddress(text)).toBe(is);
  });
});

it('reads an id in hex from the last byte to the first', () => {
  expect(hexAddress('hex:b26820ee0c9b1276aac834cf457026a575dfce84')).toBe(
    hexAddress('hex:B26820EE0C9B1276AAC834CF457026A575DFCE84'),
  );
  expect(isIdentityAddress(hexAddress('hex:b26820ee0c9b1276aac834cf457026a575dfce84') ?? '')).toBe(true);
  expect(['b26820ee0c9b1276aac834cf457026a575dfce84', 'hex:b268', 'hex:'].map(hexAddress)).toEqual([null, null, null]);
});

it('the address of a key is transparent, and no identity', () => {
  const address = keyAddress(new Uint8Array(33).fill(2));
  expect([address.startsWith('R'), isTransparentAddress(address), isIdentityAddress(address)]).toEqual([
    true,
    true,
    false,
  ]);
});

it('the hash in an address is what the address was made of', () => {
  const id = new Uint8Array(20).map((_, index) => 3 * index);
  expect(addressHash(toAddress(id))).toEqual(id);
  expect(() => addressHash('i5w5MuNik5NtLcYmNzcvaoixooEebB6MGW')).toThrow(Error);
});
