/** The price of a currency, and what it follows from: prices of others, down to the anchors. */
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
  /** What counted, deepest first. */
  readonly entries: readonly PriceEntry[];
}

/** What one basket says of one currency. */
export interface PriceEntry {
  readonly basket: BasketState;
  /** USD. */
  readonly price: Rational;
  /** USD behind it: its weight in the mean. */
  readonly depth: Rational;
  /** The priced reserve it was computed through; null where stable reserves stand in the basket itself. */
  readonly hop: QuotedPrice | null;
}
