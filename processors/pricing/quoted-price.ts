/** The price of a currency, and the prices that it follows from, down to the anchors. */
import type { BasketState } from '../../domain/basket-state.ts';
import type { PriceTier } from '../../domain/prices.ts';
import type { Rational } from '../../domain/rational.ts';

export interface QuotedPrice {
  readonly currencyId: string;
  readonly tier: PriceTier | 'nav';
  /** Exact. */
  readonly exact: Rational;
  /** As it is stored: rounded once, scaled by 10^30. */
  readonly usd: bigint;
  readonly totalDepth: Rational;
  readonly sourceBasket: BasketState | null;
  /** The entries that counted, deepest first. */
  readonly entries: readonly PriceEntry[];
}

/** The price of one currency by one basket. */
export interface PriceEntry {
  readonly basket: BasketState;
  /** USD. */
  readonly price: Rational;
  /** USD behind the price: its weight in the mean. */
  readonly depth: Rational;
  /** The priced reserve that it was computed through; null when the basket itself has stable reserves. */
  readonly hop: QuotedPrice | null;
}
