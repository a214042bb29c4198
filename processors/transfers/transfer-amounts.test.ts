import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TransferKind } from '../../domain/transfers.ts';
import { conversionFee, expectedPayout, type ImportPrices, netAmount } from './transfer-amounts.ts';
import type { TransferTerms } from './transfer-terms.ts';

const COIN = 100_000_000n;

const PRICES: ImportPrices = {
  importCurrencyId: 'iBasket',
  isBasket: true,
  price: new Map([
    ['iA', 18_305_115n],
    ['iB', 101_962_797n],
    ['iUnsolved', 0n],
  ]),
  viaPrice: new Map([['iB', 99_000_000n]]),
};

function terms(kind: TransferKind, from: string | null, to: string, amountIn: bigint): TransferTerms {
  return {
    kind,
    flags: 1,
    fromCurrencyId: from,
    toCurrencyId: to,
    viaCurrencyId: kind === 'via' ? 'iBasket' : null,
    importCurrencyId: 'iBasket',
    amountIn,
    transferFee: 20_000n,
    transferFeeCurrencyId: 'iNative',
    conversionFee: conversionFee(kind, amountIn),
    destination: 'R1',
    destinationSystemId: null,
    importSystemId: null,
  };
}

const amountOut = (transfer: TransferTerms): bigint | undefined => expectedPayout(transfer, PRICES)?.amount;

describe('what an import pays', () => {
  it('buys basket tokens at the price of the reserve', () => {
    // 0.01 of a reserve at 0.18305115, as the daemon paid it.
    expect(amountOut(terms('convert', 'iA', 'iBasket', 1_000_000n))).toBe(5_461_588n);
    expect(amountOut(terms('preconvert', 'iA', 'iBasket', 1_000_000n))).toBe(5_461_588n);
  });

  it('sells basket tokens at the price of the reserve', () => {
    // 18.084 tokens at 1.01962797: 18.079479 after the fee.
    expect(amountOut(terms('convert', 'iBasket', 'iB', 1_808_400_000n))).toBe(1_843_434_247n);
  });

  it('sells what the first leg of a via bought at the via price, and takes the fee twice', () => {
    const net = 1_000_000n - 2n * 250n;
    const bought = (net * COIN) / 18_305_115n;
    expect(amountOut(terms('via', 'iA', 'iB', 1_000_000n))).toBe((bought * 99_000_000n) / COIN);
  });

  it('is the full amount of a send or a mint, and nothing for a burn', () => {
    expect(expectedPayout(terms('send', 'iA', 'iA', 7n), PRICES)).toEqual({ currencyId: 'iA', amount: 7n });
    expect(expectedPayout(terms('mint', null, 'iBasket', 7n), PRICES)).toEqual({ currencyId: 'iBasket', amount: 7n });
    expect(amountOut(terms('burn', 'iBasket', 'iBasket', 7n))).toBe(0n);
  });

  it('rounds dust down to nothing', () => {
    expect(amountOut(terms('convert', 'iB', 'iBasket', 1n))).toBe(0n);
    expect(amountOut(terms('convert', 'iUnsolved', 'iBasket', COIN))).toBe(0n);
  });

  it('is unknown without a price', () => {
    expect(expectedPayout(terms('convert', 'iX', 'iBasket', COIN), PRICES)).toBeNull();
    expect(expectedPayout(terms('convert', 'iBasket', 'iX', COIN), PRICES)).toBeNull();
    expect(expectedPayout(terms('via', 'iX', 'iB', COIN), PRICES)).toBeNull();
    expect(expectedPayout(terms('via', 'iA', 'iX', COIN), PRICES)).toBeNull();
  });

  it('is exact where a double is not', () => {
    const prices = { ...PRICES, price: new Map([['iA', COIN]]) };
    const transfer = terms('convert', 'iA', 'iBasket', 10n ** 18n + 1n);
    expect(expectedPayout(transfer, prices)?.amount).toBe(999_750_000_000_000_001n);
  });
});

describe('the conversion fee', () => {
  it.each([
    ['convert', 25n],
    ['preconvert', 25n],
    ['via', 50n],
    ['mint', 0n],
    ['burn', 0n],
    ['send', 0n],
  ] as const)('of a %s of 100,000 satoshis is %i', (kind, fee) => {
    expect(conversionFee(kind, 100_000n)).toBe(fee);
    expect(netAmount({ amountIn: 100_000n, conversionFee: fee })).toBe(100_000n - fee);
  });

  it('rounds each leg down', () => {
    expect(conversionFee('convert', 3_999n)).toBe(0n);
    expect(conversionFee('via', 7_999n)).toBe(2n);
  });

  it('never exceeds 0.05 % and never eats the amount', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 19n), fc.constantFrom('convert', 'via'), (amount, kind) => {
        const fee = conversionFee(kind, amount);
        expect(fee * 2000n).toBeLessThanOrEqual(amount);
        expect(fee).toBeGreaterThanOrEqual(0n);
      }),
    );
  });
});
