/** No character that a reader cannot see stays invisible. */
import { expect, it } from 'vitest';
import { inertText } from './inert.ts';

it.each<[string, string]>([
  ['a zero-width space', '\u200B'],
  ['a direction mark', '\u202E'],
  ['a soft hyphen', '\u00AD'],
  ['a no-break space', '\u00A0'],
  ['a NUL', '\0'],
  ['a filler of Hangul', '\u3164'],
  ['a narrow filler of Hangul', '\uFFA0'],
  ['a variation selector', '\uFE0F'],
  ['a variation selector of the supplement', '\u{E0100}'],
  ['a joiner of graphemes', '\u034F'],
  ['an empty Braille cell', '\u2800'],
  ['a lone half of a character', '\uD83D'],
])('%s becomes a visible escape', (_, character) => {
  const shown = inertText(`alice${character}`);
  const code = character.codePointAt(0)?.toString(16).toUpperCase();
  expect(shown).toContain(code);
  expect(shown).not.toContain(character);
});

it.each(['alice', 'Ünïcødé', 'José', 'שלום', 'नमस्ते', '한국어', '👍 ok', 'two words'])('%s stays as it is', (text) => {
  expect(inertText(text)).toBe(text);
});
