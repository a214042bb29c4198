import { expect, it } from 'vitest';
import { type BasketState, coins } from '../../domain/basket-state.ts';
import { add, divide, multiply, type Rational, rational, reduce, ZERO } from '../../domain/rational.ts';
import type { PriceEntry } from './quoted-price.ts';
import { weightedPrice } from './weighted-price.ts';

/** Prices near 2 with terms of 40 digits, as several anchors of a basket give them. */
function entriesOf(count: number): PriceEntry[] {
  return Array.from({ length: count }, (_, index) => {
    const odd = BigInt(2 * index + 1);
    const d = 10n ** 40n + odd * 10n ** 20n + 7n * odd;
    const basket = { chain: 'vrsc', basketId: `B${index}`, height: 1 } as BasketState;
    return { basket, price: rational(2n * d + odd, d), depth: coins(10n ** 12n + odd), hop: null };
  });
}

function meanOf(entries: readonly PriceEntry[]): Rational {
  const depth = entries.reduce((total, entry) => add(total, entry.depth), ZERO);
  return divide(
    entries.reduce((total, entry) => add(total, multiply(entry.price, entry.depth)), ZERO),
    depth,
  );
}

it('is the mean of the prices by depth, in lowest terms', () => {
  const entries = entriesOf(60);
  expect(weightedPrice(entries)?.exact).toEqual(reduce(meanOf(entries)));
});
