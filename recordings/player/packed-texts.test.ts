import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPackedTexts } from './packed-texts.ts';

test('every text is returned unchanged, in any order, also between additions', () => {
  // Long enough to fill several chunks and to evict some unpacked ones.
  const text = fc
    .tuple(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 60_000 }))
    .map(([unit, n]) => `${unit}é`.repeat(n));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 25 }), fc.array(fc.nat(24)), (texts, order) => {
      const packed = createPackedTexts();
      const ids: number[] = [];
      for (const added of texts) {
        ids.push(packed.add(Buffer.from(added)));
        expect(packed.get(ids.at(-1) ?? -1)).toBe(added);
      }
      for (const index of order.filter((index) => index < texts.length)) {
        expect(packed.get(ids[index] ?? -1)).toBe(texts[index]);
      }
    }),
    { numRuns: 20 },
  );
});

test('an unknown id throws', () => {
  expect(() => createPackedTexts().get(0)).toThrow(RangeError);
});
