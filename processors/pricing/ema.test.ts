import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDecimal, parsePrice } from '../../domain/decimal.ts';
import { emaAlpha, stepEma } from './ema.ts';

const SCALE = 10n ** 40n;

describe('alpha', () => {
  // 1 − e^(−1/10) and 1 − e^(−1/2), from published digits of e^(−1/10) and e^(−1/2).
  it.each([
    [60, '0.0951625819640404268357509405535633788053'],
    [300, '0.3934693402873665763962004650088195465581'],
  ])('after %i s is exact to 40 decimals', (seconds, digits) => {
    expect(formatDecimal(emaAlpha(seconds), 40)).toBe(digits);
  });

  it('is zero after 0 s and capped at one half from 416 s on', () => {
    expect(emaAlpha(0)).toBe(0n);
    expect(emaAlpha(415) < SCALE / 2n).toBe(true);
    for (const seconds of [416, 417, 600, 86_400]) expect(emaAlpha(seconds)).toBe(SCALE / 2n);
  });

  it('composes: the remainder after a + b seconds is the product of those after a and after b', () => {
    fc.assert(
      fc.property(fc.nat({ max: 207 }), fc.nat({ max: 207 }), (a, b) => {
        const remains = (seconds: number) => SCALE - emaAlpha(seconds);
        const off = remains(a + b) * SCALE - remains(a) * remains(b);
        expect((off < 0n ? -off : off) <= 2n * SCALE).toBe(true);
      }),
    );
  });
});

describe('a step', () => {
  const at = (price: string, time: number) => ({ value: parsePrice(price), time });

  it('starts at the spot price', () => {
    expect(stepEma(undefined, parsePrice('2.5'), 100)).toEqual(at('2.5', 100));
  });

  it('moves by alpha of the difference', () => {
    const { value } = stepEma(at('77200', 0), parsePrice('77281.2038'), 60);
    expect(Number(formatDecimal(value, 30))).toBeCloseTo(77_207.7276, 3);
  });

  it('does not move while time stands still or steps back, and steps from the new time on', () => {
    expect(stepEma(at('1', 100), parsePrice('2'), 100)).toEqual(at('1', 100));
    expect(stepEma(at('1', 100), parsePrice('2'), 40)).toEqual(at('1', 40));
  });

  it('stays constant to the last digit while the price does', () => {
    const price = parsePrice('0.333333333333333333333333333333');
    fc.assert(
      fc.property(fc.nat({ max: 1000 }), (seconds) => {
        expect(stepEma({ value: price, time: 0 }, price, seconds).value).toBe(price);
      }),
    );
  });

  it('stays between the last value and the price', () => {
    const price = fc.bigInt({ min: 0n, max: 10n ** 36n });
    fc.assert(
      fc.property(price, price, fc.nat({ max: 1000 }), (before, spot, seconds) => {
        const { value } = stepEma({ value: before, time: 0 }, spot, seconds);
        const [low, high] = before < spot ? [before, spot] : [spot, before];
        expect(value >= low && value <= high).toBe(true);
      }),
    );
  });
});
