import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, compare, divide, divideHalfEven, multiply, rational, reduce, subtract, toScaled } from './rational.ts';

const integer = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
const fraction = fc
  .tuple(
    integer,
    integer.filter((n) => n !== 0n),
  )
  .map(([n, d]) => rational(n, d));

describe('fractions', () => {
  it('keep a positive denominator and refuse zero', () => {
    expect(rational(1n, -2n)).toEqual({ n: -1n, d: 2n });
    expect(() => rational(1n, 0n)).toThrow(RangeError);
    expect(() => divide(rational(1n), rational(0n))).toThrow(RangeError);
  });

  it('obey arithmetic', () => {
    fc.assert(
      fc.property(fraction, fraction, fraction, (a, b, c) => {
        expect(compare(subtract(add(a, b), b), a)).toBe(0);
        expect(compare(multiply(a, add(b, c)), add(multiply(a, b), multiply(a, c)))).toBe(0);
        if (b.n !== 0n) expect(compare(multiply(divide(a, b), b), a)).toBe(0);
        expect(compare(a, b)).toBe(-compare(b, a) + 0);
        expect(compare(reduce(a), a)).toBe(0);
      }),
    );
  });

  it('reduce to lowest terms', () => {
    expect(reduce(rational(6n, 4n))).toEqual({ n: 3n, d: 2n });
    expect(reduce(rational(-6n, 4n))).toEqual({ n: -3n, d: 2n });
    expect(reduce(rational(0n, 5n))).toEqual({ n: 0n, d: 1n });
  });
});

describe('rounding', () => {
  it.each([
    [5n, 2n, 2n],
    [7n, 2n, 4n],
    [-5n, 2n, -2n],
    [-7n, 2n, -4n],
    [1n, 2n, 0n],
    [3n, 2n, 2n],
    [-1n, 2n, 0n],
    [7n, 3n, 2n],
    [8n, 3n, 3n],
    [-7n, 3n, -2n],
    [-8n, 3n, -3n],
    [6n, 3n, 2n],
  ])('%i / %i is %i, ties to even', (n, d, rounded) => {
    expect(divideHalfEven(n, d)).toBe(rounded);
  });

  it('is never further than half a unit', () => {
    fc.assert(
      fc.property(fraction, fc.nat({ max: 40 }), (a, decimals) => {
        const off = 2n * (toScaled(a, decimals) * a.d - a.n * 10n ** BigInt(decimals));
        expect(off <= a.d && off >= -a.d).toBe(true);
      }),
    );
  });
});
