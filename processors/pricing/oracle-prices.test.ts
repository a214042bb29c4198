/** Hand-made sets of baskets with golden prices, and laws that hold for any set. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BasketState, coins } from '../../domain/basket-state.ts';
import { confidence } from '../../domain/confidence.ts';
import { formatPrice, toPrice } from '../../domain/decimal.ts';
import { compare } from '../../domain/rational.ts';
import { isNear } from '../../test/support/processors/pricing/near.ts';
import { recordedText } from '../../test/support/processors/recorded-chain.ts';
import { type OraclePrice, oraclePrices } from './oracle-prices.ts';

interface SyntheticCase {
  readonly name: string;
  readonly anchors: readonly string[];
  readonly native: string;
  readonly minBasketDepthUsd: number;
  readonly baskets: readonly {
    readonly basketId: string;
    readonly supplySat: string;
    readonly reserves: Readonly<Record<string, { readonly reserveSat: string; readonly weight1e8: number }>>;
  }[];
  readonly prices: Readonly<
    Record<
      string,
      {
        readonly tier: number;
        readonly usdPrice: string;
        readonly totalDepth: string;
        readonly sourceBasket: string | null;
        readonly confidence: number;
        readonly entries: readonly { readonly basketId: string; readonly price: string; readonly depth: string }[];
      }
    >
  >;
}

const { cases }: { cases: SyntheticCase[] } = JSON.parse(recordedText('golden/prices-synthetic.json'));

function basket(basketId: string, supply: bigint, reserves: BasketState['reserves'], chain = 'vrsc'): BasketState {
  return { chain, basketId, height: 1, flags: 49, supply, reserves, liveHeight: 1 };
}

describe('golden basket sets', () => {
  it.each(cases)('$name', (given) => {
    const baskets = given.baskets.map(({ basketId, supplySat, reserves }) => {
      const held = Object.entries(reserves).map(([currencyId, { reserveSat, weight1e8 }]) => {
        return { currencyId, reserves: BigInt(reserveSat), weight: BigInt(weight1e8) };
      });
      return basket(basketId, BigInt(supplySat), held);
    });
    const minDepth = coins(BigInt(given.minBasketDepthUsd) * 100_000_000n);
    const natives = new Map([['vrsc', given.native]]);
    const prices = oraclePrices({ baskets, anchors: new Set(given.anchors), natives, minDepth });
    expect([...prices.keys()].sort()).toEqual(Object.keys(given.prices).sort());
    for (const [currencyId, expected] of Object.entries(given.prices)) {
      const price = prices.get(currencyId);
      if (!price) throw new Error(`no price of ${currencyId}`);
      const entries = price.entries.map((entry) => ({
        ...entry,
        price: toPrice(entry.price),
        depth: toPrice(entry.depth),
      }));
      const totalDepth = toPrice(price.totalDepth);
      const points = { ...price, totalDepth, entryPrices: entries.map((entry) => entry.price), age: 0, guard: null };
      expect([price.tier, price.sourceBasket?.basketId ?? null, confidence(points)]).toEqual([
        expected.tier,
        expected.sourceBasket,
        expected.confidence,
      ]);
      expect(isNear(formatPrice(price.usd), expected.usdPrice)).toBe(true);
      expect(isNear(formatPrice(totalDepth), expected.totalDepth)).toBe(true);
      expect(entries.map((entry) => entry.basket.basketId)).toEqual(expected.entries.map(({ basketId }) => basketId));
      for (const [index, entry] of expected.entries.entries()) {
        expect(isNear(formatPrice(entries[index]?.price ?? 0n), entry.price)).toBe(true);
        expect(isNear(formatPrice(entries[index]?.depth ?? 0n), entry.depth)).toBe(true);
      }
    }
  });
});

const ids = ['USD', 'NATIVE', 'A', 'B', 'C', 'D'];
const reserve = fc.record({
  currencyId: fc.constantFrom(...ids, 'B1', 'B2'),
  reserves: fc.bigInt({ min: 0n, max: 10n ** 16n }),
  weight: fc.bigInt({ min: 0n, max: 10n ** 8n }),
});
const arbitraryBaskets = fc
  .array(
    fc.tuple(
      fc.bigInt({ min: 1n, max: 10n ** 16n }),
      fc.uniqueArray(reserve, { minLength: 2, maxLength: 5, selector: ({ currencyId }) => currencyId }),
    ),
    { maxLength: 8 },
  )
  .map((list) => list.map(([supply, reserves], index) => basket(`B${index}`, supply, reserves)));
const setting = {
  anchors: new Set(['USD']),
  natives: new Map([['vrsc', 'NATIVE']]),
  minDepth: coins(100_000_000_000n),
};

const shown = (prices: ReadonlyMap<string, OraclePrice>) =>
  new Map(
    [...prices.values()].map(({ currencyId, tier, usd, totalDepth, sourceBasket, entries }) => [
      currencyId,
      {
        tier,
        usd,
        totalDepth: toPrice(totalDepth),
        sourceBasket: sourceBasket?.basketId,
        entries: entries.map((entry) => [entry.basket.basketId, toPrice(entry.price), toPrice(entry.depth)]),
      },
    ]),
  );

describe('any set of baskets', () => {
  it('gives the same prices in any order', () => {
    fc.assert(
      fc.property(
        arbitraryBaskets.chain((baskets) =>
          fc.tuple(fc.constant(baskets), fc.shuffledSubarray(baskets, { minLength: baskets.length })),
        ),
        ([baskets, shuffled]) => {
          expect(shown(oraclePrices({ baskets: shuffled, ...setting }))).toEqual(
            shown(oraclePrices({ baskets, ...setting })),
          );
        },
      ),
    );
  });

  it('prices anchors at 1, and other currencies between their kept entries, deepest first', () => {
    fc.assert(
      fc.property(arbitraryBaskets, (baskets) => {
        for (const price of oraclePrices({ baskets, ...setting }).values()) {
          if (price.tier === 0) expect(price.usd).toBe(10n ** 30n);
          else expect(price.entries.length).toBeGreaterThan(0);
          for (const [index, entry] of price.entries.entries()) {
            const next = price.entries[index + 1];
            if (next) expect(compare(entry.depth, next.depth)).toBeGreaterThanOrEqual(0);
          }
          const sorted = price.entries.map((entry) => entry.price).sort(compare);
          const [low, high] = [sorted[0], sorted.at(-1)];
          if (low && high) expect(compare(low, price.exact) <= 0 && compare(price.exact, high) <= 0).toBe(true);
          expect(price.entries[0]?.basket).toBe(price.sourceBasket ?? undefined);
        }
      }),
    );
  });

  it('prefers the first chain when two chains have the same basket id at equal depth', () => {
    const reserves = [
      { currencyId: 'USD', reserves: 10n ** 12n, weight: 50_000_000n },
      { currencyId: 'A', reserves: 10n ** 12n, weight: 50_000_000n },
    ];
    const baskets = [basket('B1', 10n ** 12n, reserves, 'first'), basket('B1', 10n ** 12n, reserves, 'second')];
    const price = oraclePrices({ baskets, ...setting }).get('A');
    expect(price?.entries.map((entry) => entry.basket.chain)).toEqual(['first', 'second']);
    expect(price?.sourceBasket?.chain).toBe('first');
  });
});
