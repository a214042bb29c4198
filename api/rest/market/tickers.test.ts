import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { expect, it } from 'vitest';
import type { Pair } from './pairs.ts';
import { marketsOf, priceText, symbolOf, usdText } from './tickers.ts';

it.each([
  ['vUSDC.vETH', 'USDC'],
  ['DAI.vETH', 'DAI'],
  ['tBTC.vETH', 'tBTC'],
  ['vETH', 'ETH'],
  ['vARRR', 'vARRR'],
  ['Bridge.vETH', 'Bridge'],
  ['value.vETH', 'value'],
  ['VRSC', 'VRSC'],
])('%s is traded as %s', (name, symbol) => expect(symbolOf(name)).toBe(symbol));

it.each([
  ['1', '1.00000000'],
  ['123456789.987654321', '123456789.98765432'],
  ['0.00123456789', '0.00123457'],
  ['0.000123456789', '0.00012346'],
  ['0.0000123456789', '0.0000123457'],
  ['0.0000000049', '0.00000000490000'],
  ['0.0000000000000000000053999999999999', '0.00000000000000000000540000'],
])('the price %s is printed as %s', (price, text) => expect(priceText(price)).toBe(text));

it.each([
  [5n * 10n ** 38n, '5.00000000'],
  [5n * 10n ** 29n, '0.00000001'],
  [49n * 10n ** 28n, '0.00000000'],
])('%s has eight decimals', (value, text) => expect(usdText(value)).toBe(text));

const one = new LosslessNumber('1');
const prices = { open: one, high: one, low: one, close: one };

it('a pair of several baskets is one market: volumes add up, the deepest pool has the price', () => {
  const pair = (base: string, name: string, volume: bigint, liquidity: bigint | null) =>
    ({ basket: { name }, base, quote: 'q', prices, volumeBase: volume, volumeQuote: 2n * volume, liquidity }) as Pair;
  const markets = marketsOf([
    pair('a', 'x', 1n, null),
    pair('b', 'x', 5n, 5n),
    pair('a', 'y', 2n, 9n),
    pair('a', 'z', 4n, 3n),
  ]);
  expect(markets.map(({ deepest, volumeBase, volumeQuote }) => [deepest.basket.name, volumeBase, volumeQuote])).toEqual(
    [
      ['y', 7n, 14n],
      ['x', 5n, 10n],
    ],
  );
});

const amount = fc.bigInt({ min: 0n, max: 10n ** 18n });
const anyPool = fc.record({
  ids: fc.shuffledSubarray(['a', 'b', 'c'], { minLength: 2, maxLength: 2 }),
  volumeBase: amount,
  volumeQuote: amount,
  liquidity: fc.option(amount),
});

it('pools of the same two currencies, in either order, form one market: it has the base of the deepest pool and the volume of all', () => {
  fc.assert(
    fc.property(fc.array(anyPool, { maxLength: 12 }), (given) => {
      const pools = given.map(({ ids: [base, quote], ...pool }) => ({ base, quote, prices, ...pool }) as Pair);
      const markets = marketsOf(pools);
      const idsOf = ({ base, quote }: Pair) => [base, quote].sort().join();
      const traded = (id: string, ids: string) =>
        pools
          .filter((pool) => idsOf(pool) === ids)
          .reduce((sum, pool) => sum + (pool.base === id ? pool.volumeBase : pool.volumeQuote), 0n);
      expect(markets.map(({ deepest }) => idsOf(deepest))).toEqual([...new Set(pools.map(idsOf))]);
      for (const { deepest, volumeBase, volumeQuote } of markets) {
        const same = pools.filter((pool) => idsOf(pool) === idsOf(deepest));
        expect(same.every(({ liquidity }) => (liquidity ?? 0n) <= (deepest.liquidity ?? 0n))).toBe(true);
        expect(volumeBase).toBe(traded(deepest.base, idsOf(deepest)));
        expect(volumeQuote).toBe(traded(deepest.quote, idsOf(deepest)));
      }
    }),
  );
});
