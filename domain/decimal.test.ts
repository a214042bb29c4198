import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDecimal, parseDecimal, toPrice } from './decimal.ts';

describe('decimals', () => {
  it.each([
    [1500n, 3, '1.5'],
    [-1500n, 3, '-1.5'],
    [0n, 30, '0'],
    [1n, 3, '0.001'],
    [12_000n, 3, '12'],
  ])('%i of %i decimals reads %s', (scaled, decimals, text) => {
    expect(formatDecimal(scaled, decimals)).toBe(text);
  });

  it('read back as they were written', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }),
        fc.integer({ min: 1, max: 40 }),
        (scaled, decimals) => {
          expect(parseDecimal(formatDecimal(scaled, decimals), decimals)).toBe(scaled);
        },
      ),
    );
  });

  it('refuse text that they cannot represent', () => {
    expect(parseDecimal('1.50', 1)).toBe(15n);
    expect(() => parseDecimal('1.55', 1)).toThrow(RangeError);
    expect(() => parseDecimal('1e3', 1)).toThrow(RangeError);
    expect(() => parseDecimal('', 1)).toThrow(RangeError);
  });

  it('round a price once, half-even, to 30 decimals', () => {
    expect(toPrice({ n: 2n, d: 3n })).toBe(666_666_666_666_666_666_666_666_666_667n);
    expect(toPrice({ n: 1n, d: 2n * 10n ** 30n })).toBe(0n);
    expect(toPrice({ n: 3n, d: 2n * 10n ** 30n })).toBe(2n);
  });
});
