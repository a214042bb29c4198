import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readBeginning, shownAnswer } from './shown-answer.ts';

it('is at most 2 kB of text without NUL, whatever the receiver answers', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3_000, size: 'max' }), (bytes) => {
      const { text, isCut } = shownAnswer(bytes);
      expect([text.length <= 2_048, text.includes('\0'), text.isWellFormed(), isCut]).toEqual([
        true,
        false,
        true,
        bytes.length > 2_048,
      ]);
    }),
  );
});

it('shows text unchanged, and no part of a character', () => {
  const text = `${'ü'.repeat(1_023)}x€`;
  expect(shownAnswer(Buffer.from(text))).toEqual({ text: text.slice(0, -1), isCut: true });
  expect(shownAnswer(Buffer.from('nö'))).toEqual({ text: 'nö', isCut: false });
});

it('keeps the beginning of an answer that breaks off, or never ends', async () => {
  async function* breaking() {
    yield Buffer.from('begun');
    throw new Error('reset');
  }
  async function* endless() {
    for (;;) yield Buffer.alloc(1_000, 'x');
  }
  expect((await readBeginning(breaking(), 10_000)).toString()).toBe('begun');
  expect((await readBeginning(endless(), 10_000)).length).toBe(3_000);
});
