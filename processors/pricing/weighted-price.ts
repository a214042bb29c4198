/** Combines the prices of a currency by several baskets into one. */
import type { BasketState } from '../../domain/basket-state.ts';
import {
  absolute,
  add,
  compare,
  divide,
  multiply,
  type Rational,
  reduce,
  subtract,
  ZERO,
} from '../../domain/rational.ts';
import type { PriceEntry } from './quoted-price.ts';

export interface WeightedPrice {
  /** USD, exact. */
  readonly exact: Rational;
  readonly depth: Rational;
  /** Deepest entry; on a tie the smallest basket id, then the first chain. */
  readonly sourceBasket: BasketState;
  /** The entries that count, deepest first. */
  readonly entries: readonly PriceEntry[];
}

const CUT_FROM_ENTRIES = 3;
const CUT_DISTANCE: Rational = { n: 1n, d: 5n };

/** Depth-weighted mean after the outlier cut; null without entries. Entries come in the order of their chains. */
export function weightedPrice(entries: readonly PriceEntry[]): WeightedPrice | null {
  const kept = [...withoutOutliers(entries)].sort((a, b) => compare(b.depth, a.depth) || byBasket(a, b));
  const [deepest] = kept;
  if (!deepest) return null;
  const depth = totalDepth(kept);
  // Reducing every partial sum instead would take time that grows with the cube of the number of entries.
  const sum = kept.reduce((total, { price, depth }) => add(total, reduce(multiply(price, depth))), ZERO);
  return { exact: reduce(divide(sum, depth)), depth, sourceBasket: deepest.basket, entries: kept };
}

/** With three entries or more: those within 20 % of the depth-weighted median. */
function withoutOutliers(entries: readonly PriceEntry[]): readonly PriceEntry[] {
  if (entries.length < CUT_FROM_ENTRIES) return entries;
  const median = weightedMedian(entries);
  const distance = multiply(median, CUT_DISTANCE);
  return entries.filter(({ price }) => compare(absolute(subtract(price, median)), distance) <= 0);
}

/** The first price, by (price, basket id), at which the running depth reaches half of the total. */
function weightedMedian(entries: readonly PriceEntry[]): Rational {
  const sorted = [...entries].sort((a, b) => compare(a.price, b.price) || byBasket(a, b));
  const total = totalDepth(entries);
  let running = ZERO;
  for (const { price, depth } of sorted) {
    running = add(running, depth);
    if (2n * running.n * total.d >= total.n * running.d) return price;
  }
  throw new RangeError('a weighted median needs entries with depth');
}

function totalDepth(entries: readonly PriceEntry[]): Rational {
  return reduce(entries.reduce((total, { depth }) => add(total, depth), ZERO));
}

function byBasket(a: PriceEntry, b: PriceEntry): number {
  return a.basket.basketId < b.basket.basketId ? -1 : a.basket.basketId > b.basket.basketId ? 1 : 0;
}
