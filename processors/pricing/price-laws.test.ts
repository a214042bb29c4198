/** Laws of prices that hold for any baskets. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BasketState, coins, priceInReserve } from '../../domain/basket-state.ts';
import { toPrice } from '../../domain/decimal.ts';
import { ONE, rational, subtract } from '../../domain/rational.ts';
import { MOST_SATOSHIS } from '../../domain/satoshi.ts';
import { recordedDerivation } from '../../test/support/pipeline/price/recorded-derivation.ts';
import { backfillPrices } from './backfill-prices.ts';
import { oraclePrices } from './oracle-prices.ts';

const natives = new Map([['vrsc', 'NATIVE']]);
const anchors = new Set(['USD']);

const reserve = fc.record({
  currencyId: fc.constantFrom('USD', 'NATIVE', 'A', 'B', 'C'),
  reserves: fc.bigInt({ min: 1n, max: 10n ** 15n }),
  weight: fc.bigInt({ min: 1n, max: 10n ** 8n }),
});
const baskets: fc.Arbitrary<BasketState[]> = fc
  .array(
    fc.record({
      supply: fc.bigInt({ min: 1n, max: 10n ** 15n }),
      reserves: fc.uniqueArray(reserve, { minLength: 2, maxLength: 4, selector: ({ currencyId }) => currencyId }),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((list) => list.map(({ supply, reserves }, index) => basket(`B${index}`, supply, reserves)));

function basket(basketId: string, supply: bigint, reserves: BasketState['reserves']): BasketState {
  return { chain: 'vrsc', basketId, height: 1, flags: 49, supply, reserves, liveHeight: 1 };
}

function pricesOf(list: readonly BasketState[], minDepthSatoshis = 0n, of = anchors) {
  const prices = oraclePrices({ baskets: list, anchors: of, natives, minDepth: coins(minDepthSatoshis) });
  return new Map([...prices.values()].map(({ currencyId, tier, usd }) => [currencyId, { tier, usd }]));
}

describe('prices', () => {
  it('do not change when all baskets and the minimum depth grow by the same factor', () => {
    fc.assert(
      fc.property(
        baskets,
        fc.bigInt({ min: 2n, max: 1000n }),
        fc.bigInt({ min: 0n, max: 10n ** 13n }),
        (list, factor, minDepth) => {
          const grown = list.map((state) => ({
            ...state,
            supply: state.supply * factor,
            reserves: state.reserves.map((held) => ({ ...held, reserves: held.reserves * factor })),
          }));
          expect(pricesOf(grown, minDepth * factor)).toEqual(pricesOf(list, minDepth));
        },
      ),
    );
  });

  it('of A in B and of B in A are each other’s inverse, except for the rounding to 30 decimals', () => {
    fc.assert(
      fc.property(reserve, reserve, fc.bigInt({ min: 1n, max: 10n ** 15n }), (a, b, supply) => {
        const state = basket('BASKET', supply, [
          { ...a, currencyId: 'A' },
          { ...b, currencyId: 'B' },
        ]);
        const usd = (priced: string, anchor: string) => pricesOf([state], 0n, new Set([anchor])).get(priced)?.usd;
        const [there, back] = [usd('A', 'B'), usd('B', 'A')];
        if (there === undefined || back === undefined) return fc.pre(false); // one of them would be above the bound
        // Each price is off by at most half a unit of its last decimal, so the product by half of their sum and a little more.
        const error = subtract(rational(there * back, 10n ** 60n), ONE);
        const distance = error.n < 0n ? -error.n : error.n;
        expect(2n * distance * 10n ** 30n <= (there + back + 1n) * error.d).toBe(true);
      }),
    );
  });

  it('are at most what the stores can contain, for any amounts', () => {
    const amount = fc.oneof(fc.bigInt({ min: 1n, max: MOST_SATOSHIS }), fc.constantFrom(1n, 10n ** 11n, 10n ** 18n));
    const held = fc.record({
      currencyId: fc.constantFrom('USD', 'NATIVE', 'A', 'B', 'C'),
      reserves: amount,
      weight: fc.bigInt({ min: 1n, max: 10n ** 8n }),
    });
    const any = fc.array(fc.tuple(amount, fc.tuple(held, held)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(any, (list) => {
        const extreme = list.map(([supply, reserves], index) => basket(`B${index}`, supply, reserves));
        const live = oraclePrices({ baskets: extreme, anchors, natives, minDepth: ONE });
        const backfill = backfillPrices({ baskets: extreme, anchors, nativeCurrencyId: 'NATIVE' });
        for (const { usd } of [...live.values(), ...backfill.values()]) expect(usd).toBeLessThanOrEqual(10n ** 48n);
      }),
    );
  });

  it('do not change when a basket without depth is added', () => {
    fc.assert(
      fc.property(baskets, reserve, (list, { currencyId }) => {
        const empty = ['USD', currencyId === 'USD' ? 'A' : currencyId].map((held) => ({
          currencyId: held,
          reserves: 0n,
          weight: 50_000_000n,
        }));
        expect(pricesOf([...list, basket('EMPTY', 10n ** 12n, empty)])).toEqual(pricesOf(list));
      }),
    );
  });
});

it('the daemon’s priceinreserve, truncated to 8 decimals, is off by up to a unit, which is too much for a low price', () => {
  let worst = 0;
  let compared = 0;
  for (const { facts } of recordedDerivation()) {
    for (const fact of facts) {
      if (fact.type !== 'currency_state') continue;
      for (const held of fact.reserves) {
        const exact = priceInReserve(fact, held);
        if (!exact || held.priceInReserve === 0n) continue;
        const off = toPrice(subtract(coins(held.priceInReserve), exact));
        const relative = Number(off < 0n ? -off : off) / Number(toPrice(exact));
        worst = Math.max(worst, relative);
        compared += 1;
        expect(Number(off < 0n ? -off : off)).toBeLessThanOrEqual(1e22); // 10^-8
      }
    }
  }
  expect(compared).toBeGreaterThan(300);
  expect(worst).toBeGreaterThan(1e-6);
  console.log(`priceinreserve: off by up to ${worst.toExponential(1)} of the price in ${compared} recorded ones`);
});
