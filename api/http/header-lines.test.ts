import { expect, it } from 'vitest';
import { headerLines } from './header-lines.ts';

it.each([
  ['a line more', { 'X-A': 'a\r\nX-B: b' }],
  ['a line feed', { 'X-A': 'a\nX-B: b' }],
  ['a NUL', { 'X-A': 'a\0' }],
  ['a name of two words', { 'X A': 'a' }],
  ['no name', { '': 'a' }],
  ['a name with a line more', { 'X-A: a\r\nX-B': 'b' }],
])('%s is no header', (_, headers: Record<string, string>) => {
  expect(() => headerLines(headers)).toThrow(TypeError);
});
