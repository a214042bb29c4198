/** When an unpaid conversion counts as refunded: the bound to the satoshi, the cases to which the rule does not apply, and its laws. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BasketState } from '../../domain/basket-state.ts';
import { explainStamp } from '../../domain/explain-stamp.ts';
import { satoshisToCoins } from '../../domain/satoshi.ts';
import type { CurrencyStateFact, TransferFact } from '../../schemas/facts.ts';
import { conversionFee } from '../transfers/transfer-amounts.ts';
import { type DeliveryContext, isFarOff, marketRate, noDelivery } from './no-delivery.ts';
import { noDeliveryInputs } from './stamp-inputs.ts';

const COIN = 100_000_000n;
const FRACTIONAL = 49;
/** One basket token is worth 2 A or 8 B: the supply is 1000, A has a weight of one quarter and B of three quarters. */
const BASKET: BasketState = {
  chain: 'vrsc',
  basketId: 'BASKET',
  height: 7,
  flags: FRACTIONAL,
  supply: 1000n * COIN,
  reserves: [
    { currencyId: 'A', reserves: 500n * COIN, weight: COIN / 4n },
    { currencyId: 'B', reserves: 6000n * COIN, weight: (3n * COIN) / 4n },
    { currencyId: 'EMPTY', reserves: 0n, weight: COIN },
  ],
  liveHeight: 1,
};

type Prices = Readonly<Record<string, readonly [last: bigint, via: bigint]>>;

/** The state that import `txid` left of the basket, as the daemon prints it. */
function stated(
  prices: Prices,
  { txid = 'import', flags = FRACTIONAL, currencyId = 'BASKET' } = {},
): CurrencyStateFact {
  const currencies = Object.entries(prices).map(([id, pair]) => {
    const [last, via] = pair.map(satoshisToCoins);
    return `"${id}":{"lastconversionprice":${last},"viaconversionprice":${via}}`;
  });
  const state = `{"flags":${flags},"currencyid":"${currencyId}","supply":1.0,"currencies":{${currencies.join()}}}`;
  return {
    type: 'currency_state',
    currencyId,
    txid,
    vout: 1,
    txIndex: 1,
    flags,
    supply: 1n,
    reserves: [],
    liveHeight: 1,
    state,
  };
}

function unpaid(asked: Partial<TransferFact>): TransferFact {
  const { kind = 'convert', amountIn = 1000n * COIN } = asked;
  return {
    kind,
    amountIn,
    status: 'unmatched',
    fromCurrencyId: 'A',
    toCurrencyId: 'BASKET',
    importCurrencyId: 'BASKET',
    importTxid: 'import',
    conversionFee: conversionFee(kind, amountIn),
    ...asked,
  } as TransferFact;
}

const AT_MARKET: Prices = { A: [2n * COIN, 2n * COIN], B: [8n * COIN, 8n * COIN] };
const context = (prices: Prices, of: Partial<DeliveryContext> = {}): DeliveryContext => ({
  states: [stated(prices)],
  baskets: new Map([['BASKET', BASKET]]),
  isTruth: () => false,
  ...of,
});
const priced = (a: bigint, b = 8n * COIN): Prices => ({ A: [a, a], B: [b, b] });

describe('the market’s rate', () => {
  it('is the ratio of the prices in the basket, where the basket token itself counts 1', () => {
    const of = (from: string, to: string) => {
      const rate = marketRate(BASKET, from, to);
      return rate && Number(rate.n) / Number(rate.d);
    };
    expect([of('A', 'BASKET'), of('BASKET', 'A'), of('A', 'B'), of('B', 'A')]).toEqual([0.5, 2, 4, 0.25]);
    expect([of('A', 'EMPTY'), of('ELSEWHERE', 'A')]).toEqual([null, null]);
    expect(marketRate({ ...BASKET, supply: 0n }, 'A', 'BASKET')).toBeNull();
  });
});

describe('an unpaid conversion', () => {
  it('is not affected at the market’s rate, and up to half above or below it', () => {
    expect(noDelivery(unpaid({}), context(AT_MARKET))).toBeNull();
    expect(noDelivery(unpaid({}), context(priced((4n * COIN) / 3n + 1_000_000n)))).toBeNull();
    expect(noDelivery(unpaid({ conversionFee: 0n }), context(priced(4n * COIN)))).toBeNull();
  });

  it('counts as refunded one satoshi beyond that', () => {
    // 1000 A are worth 500 tokens: 250 is 50 % below and 750 is 50 % above.
    const given = { conversionFee: 0n, amountIn: 1000n * COIN };
    const cases: [bigint, bigint, boolean][] = [
      [4n * COIN, 250n * COIN, false],
      [4n * COIN + 1n, 250n * COIN - 63n, true],
      [133_333_334n, 749_99999625n, false],
      [133_333_333n, 750_00000187n, true],
    ];
    for (const [price, expectedOut, isRefunded] of cases) {
      const found = noDelivery(unpaid(given), context(priced(price)));
      expect([price, found?.expectedOut ?? null]).toEqual([price, isRefunded ? expectedOut : null]);
    }
    const half = { n: 250n * COIN, d: 1000n * COIN };
    const market = { n: 1n, d: 2n };
    expect(isFarOff(half, market)).toBe(false);
    expect(isFarOff({ ...half, n: half.n - 1n }, market)).toBe(true);
    expect(isFarOff({ ...half, n: 750n * COIN }, market)).toBe(false);
    expect(isFarOff({ ...half, n: 750n * COIN + 1n }, market)).toBe(true);
  });

  it('is judged after its fee, by both prices of a via, and with the basket token itself counting 1', () => {
    const via = unpaid({ kind: 'via', toCurrencyId: 'B' });
    expect(noDelivery(via, context(AT_MARKET))).toBeNull();
    expect(noDelivery(via, context({ A: [2n * COIN, 0n], B: [0n, 3n * COIN] }))).toMatchObject({
      expectedOut: (((1000n * COIN - 2n * 25_000_000n) * COIN) / (2n * COIN)) * 3n,
    });
    const sold = unpaid({ fromCurrencyId: 'BASKET', toCurrencyId: 'A' });
    expect(noDelivery(sold, context(AT_MARKET))).toBeNull();
    expect(noDelivery(sold, context(priced(COIN)))).toMatchObject({ expectedOut: 1000n * COIN - 25_000_000n });
    expect(noDelivery(unpaid({ kind: 'preconvert' }), context(priced(9n * COIN)))).not.toBeNull();
  });

  const FAR = priced(9n * COIN);
  const silent: [string, TransferFact, DeliveryContext][] = [
    ['was paid', unpaid({ status: 'completed', amountOut: 1n }), context(FAR)],
    ['was refunded', unpaid({ status: 'refunded' }), context(FAR)],
    ['is still on its way', unpaid({ status: 'exported' }), context(FAR)],
    ['gives a currency beyond doubt', unpaid({}), context(FAR, { isTruth: (id) => id === 'A' })],
    ['requests a currency beyond doubt', unpaid({}), context(FAR, { isTruth: (id) => id === 'BASKET' })],
    ['is a mint', unpaid({ kind: 'mint', fromCurrencyId: null }), context(FAR)],
    ['is a burn', unpaid({ kind: 'burn' }), context(FAR)],
    [
      'gives a currency that the import states no price for',
      unpaid({ fromCurrencyId: 'B' }),
      context({ A: [COIN, COIN] }),
    ],
    ['is executed by an import that left no state', unpaid({}), context(FAR, { states: [] })],
    ['is executed by another import than that of the state', unpaid({ importTxid: 'other' }), context(FAR)],
    ['is executed for another currency than that of the state', unpaid({ importCurrencyId: 'C' }), context(FAR)],
    ['is of a currency that is not a basket', unpaid({}), context({}, { states: [stated(FAR, { flags: 32 })] })],
    ['is of a basket that the chain does not know', unpaid({}), context(FAR, { baskets: new Map() })],
    [
      'requests a reserve that is empty',
      unpaid({ kind: 'via', toCurrencyId: 'EMPTY' }),
      context({ ...FAR, EMPTY: [1n, 1n] }),
    ],
  ];
  it.each(silent)('is not affected when it %s', (_, transfer, given) => {
    expect(noDelivery(unpaid({}), context(FAR))).not.toBeNull();
    expect(noDelivery(transfer, given)).toBeNull();
  });

  it('is priced by the import that executed it, also when the block has several', () => {
    const states = [stated(AT_MARKET, { txid: 'first' }), stated(FAR), stated(AT_MARKET, { txid: 'last' })];
    const of = (importTxid: string) => noDelivery(unpaid({ importTxid }), context({}, { states }));
    expect([of('first'), of('import')?.expectedOut, of('last')]).toEqual([null, 111_08333333n, null]);
  });

  it('explains both rates', () => {
    const found = noDelivery(unpaid({ kind: 'via', toCurrencyId: 'B' }), context(FAR));
    if (!found) throw new Error('the rule is silent');
    const steps = explainStamp(noDeliveryInputs(found));
    expect(steps.map(({ step, currencyId }) => `${step} ${currencyId}`)).toEqual([
      'price_in_reserve A',
      'price_in_reserve B',
      'market_rate B',
      'executed_rate B',
    ]);
    expect(steps.slice(2).map(({ expression, value }) => [expression, value])).toEqual([
      ['8 / 2', '4'],
      ['888.4444444 / 1000', '0.8884444444'],
    ]);
  });
});

const satoshis = fc.bigInt({ min: 1n, max: 10n ** 17n });
const price = fc.bigInt({ min: 1n, max: 10n ** 13n });
const basket = fc
  .record({ supply: satoshis, a: satoshis, b: satoshis, weight: fc.bigInt({ min: 1n, max: COIN - 1n }) })
  .map(({ supply, a, b, weight }): BasketState => {
    const reserves = [
      { currencyId: 'A', reserves: a, weight },
      { currencyId: 'B', reserves: b, weight: COIN - weight },
    ];
    return { ...BASKET, supply, reserves };
  });

describe('for any basket and prices', () => {
  it('the rule is the plain inequality in integers', () => {
    fc.assert(
      fc.property(basket, price, satoshis, (state, importPrice, amountIn) => {
        const given = context(priced(importPrice), { baskets: new Map([['BASKET', state]]) });
        const expected = ((amountIn - conversionFee('convert', amountIn)) * COIN) / importPrice;
        const [{ reserves, weight } = { reserves: 0n, weight: 0n }] = state.reserves;
        // out ÷ in against supply · weight ÷ (reserves · 10^8), doubled and multiplied out.
        const [executed, market] = [expected * reserves * COIN, amountIn * state.supply * weight];
        const isFar = 2n * executed > 3n * market || 2n * executed < market;
        expect(noDelivery(unpaid({ amountIn }), given) !== null).toBe(isFar);
      }),
    );
  });

  it('a rate is never far off itself, nor is a rate between the market and a near one', () => {
    const rate = fc.record({ n: satoshis, d: satoshis });
    fc.assert(
      fc.property(rate, rate, fc.bigInt({ min: 0n, max: 1000n }), (market, other, part) => {
        expect(isFarOff(market, market)).toBe(false);
        // market + (other − market) · part ÷ 1000
        const between = {
          n: market.n * other.d * (1000n - part) + other.n * market.d * part,
          d: market.d * other.d * 1000n,
        };
        if (!isFarOff(other, market)) expect(isFarOff(between, market)).toBe(false);
      }),
    );
  });
});
