import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringifyExact } from '../../domain/json/exact-json.ts';
import { coins, decimal, isoTime, ratio, usdValueOf } from './values.ts';

const amount = fc.bigInt({ min: 0n, max: 10n ** 19n });

describe('values', () => {
  it('prints amounts beyond a double to the satoshi', () => {
    expect(stringifyExact({ amount: coins(1_000_000_000_000_000_001n) })).toBe('{"amount":10000000000.00000001}');
    expect(stringifyExact([coins(1n), coins(0n), coins(-150_000_000n)])).toBe('[0.00000001,0.00000000,-1.50000000]');
  });

  it('drops only trailing zeros of a decimal', () => {
    expect(['1.500', '100', '0.000', '10.0', '0.10'].map((text) => decimal(text).value)).toEqual([
      '1.5',
      '100',
      '0',
      '10',
      '0.1',
    ]);
  });

  it('divides to 15 significant digits', () => {
    fc.assert(
      fc.property(amount, amount, fc.bigInt({ min: 1n, max: 10n ** 19n }), (a, b, times) => {
        fc.pre(b > 0n);
        const exact = Number(a) / Number(b);
        expect(ratio(a * times, b * times)).toEqual(ratio(a, b));
        expect(Math.abs(Number(ratio(a, b).value) - exact)).toBeLessThanOrEqual(exact * 1e-13);
      }),
    );
    expect(ratio(1n, 3n).value).toBe('0.333333333333333');
    expect(ratio(200n, 100n).value).toBe('2');
    expect(ratio(10n ** 18n, 1n).value).toBe('1000000000000000000');
  });

  it('multiplies amount and price exactly', () => {
    expect(usdValueOf(150_000_000n, '0.803608000000000000000000000001')?.value).toBe(
      '1.2054120000000000000000000000015',
    );
    expect(usdValueOf(-100_000_000n, '2')?.value).toBe('-2');
    expect(usdValueOf(1n, '1.000000000000000000000000000000')?.value).toBe('0.00000001');
    expect(usdValueOf(5n, null)).toBeNull();
    fc.assert(
      fc.property(amount, fc.bigInt({ min: 0n, max: 10n ** 40n }), (satoshis, price) => {
        const digits = price.toString().padStart(31, '0');
        const text = `${digits.slice(0, -30)}.${digits.slice(-30)}`;
        const [whole = '', fraction = ''] = (usdValueOf(satoshis, text)?.value ?? '').split('.');
        expect(BigInt(whole + fraction.padEnd(38, '0'))).toBe(satoshis * price);
      }),
    );
  });

  it('prints times in UTC', () => {
    expect(isoTime(1_795_063_647n)).toBe('2026-11-19T04:47:27.000Z');
  });
});
