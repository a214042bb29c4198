import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainDecimal, scaledUp } from '../../domain/decimal.ts';
import { parseWithDecimals, writtenDecimal } from './written-decimal.ts';

const digits = (most: number) => fc.stringMatching(new RegExp(`^\\d{1,${most}}$`));
const written = fc
  .tuple(digits(38), fc.option(digits(40)), fc.option(fc.integer({ min: -99, max: 99 })))
  .map(([whole, fraction, exponent]) => ({
    text: `${whole}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`,
    value: BigInt(whole + (fraction ?? '')),
    places: (fraction ?? '').length - (exponent ?? 0),
  }));

/** Enough decimals for every written decimal. */
const PLACES = 140;

describe('written decimals', () => {
  it('keep their value when the exponent is removed', () => {
    fc.assert(
      fc.property(written, ({ text, value, places }) => {
        expect(text).toMatch(new RegExp(writtenDecimal.pattern));
        const plain = plainDecimal(text);
        expect(plain).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
        expect(scaledUp(plain, PLACES)).toBe(value * 10n ** BigInt(PLACES - places));
      }),
    );
    expect(['00.50', '1e2', '1.25E+1', '5e-3', '0e9', '120.5e-1'].map(plainDecimal)).toEqual([
      '0.5',
      '100',
      '12.5',
      '0.005',
      '0',
      '12.05',
    ]);
  });

  it('are rounded up to fewer places', () => {
    expect([scaledUp('0.01', 2), scaledUp('0.010000001', 2), scaledUp('1e-99', 2), scaledUp('7', 2)]).toEqual([
      1n,
      2n,
      1n,
      700n,
    ]);
  });

  it('keep their digits in JSON, while other numbers become doubles', () => {
    const text =
      '{"id":1.50,"filter":{"minUsd":0.12345678901234567890},"list":[{"minUsd":5,"at":[2.5,1e2]}],"minUsd":"x"}';
    expect(parseWithDecimals(text, new Set(['minUsd']))).toEqual({
      id: 1.5,
      filter: { minUsd: '0.12345678901234567890' },
      list: [{ minUsd: '5', at: [2.5, 100] }],
      minUsd: 'x',
    });
    expect(parseWithDecimals('0.25', new Set())).toBe(0.25);
    expect(() => parseWithDecimals('{"minUsd":.5}', new Set(['minUsd']))).toThrow(SyntaxError);
  });
});
