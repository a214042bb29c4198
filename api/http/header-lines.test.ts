import { expect, it } from 'vitest';
import { headerLines } from './header-lines.ts';

it.each([
  ['a second line', { 'X-A': 'a\r\nX-B: b' }],
  ['a line feed', { 'X-A': 'a\nX-B: b' }],
  ['a NUL', { 'X-A': 'a\0' }],
  ['a name of two words', { 'X A': 'a' }],
  ['no name', { '': 'a' }],
  ['a name with a second line', { 'X-A: a\r\nX-B': 'b' }],
])('%s is refused', (_, headers: Record<string, string>) => {
  expect(() => headerLines(headers)).toThrow(TypeError);
});
