/** The inputs of a stamp, as the stores keep them in JSON. Amounts are satoshis and prices are plain decimals, both as text. */
import type { PriceLimits } from './prices.ts';

export interface EntryInput {
  readonly chain: string;
  readonly basketId: string;
  readonly price: string;
  readonly depth: string;
  /** Currency that the price was computed through. */
  readonly hop: string | null;
}

export interface PriceInput {
  readonly currencyId: string;
  readonly tier: number | 'nav';
  readonly usd: string;
  readonly totalDepth: string;
  readonly sourceBasket: string | null;
  /** Deepest first; empty for an anchor, whose price is 1 by configuration. */
  readonly entries: readonly EntryInput[];
}

export interface BasketInput {
  readonly chain: string;
  readonly basketId: string;
  /** Block that left this state. */
  readonly height: number;
  readonly supply: string;
  readonly reserves: readonly { readonly currencyId: string; readonly reserves: string; readonly weight: string }[];
}

export interface SideInput {
  readonly currencyId: string;
  /** Satoshis. */
  readonly amount: string;
  readonly usd: string | null;
  readonly priceBasket: string | null;
  readonly isAnchor: boolean;
  readonly isNative: boolean;
  readonly isBasket: boolean;
  /** The currency's configured limits. */
  readonly limits?: PriceLimits;
}

/** Evidence that nothing was delivered. The basket's state is in `baskets`. */
export interface NoDeliveryInput {
  readonly chain: string;
  readonly basketId: string;
  readonly fromCurrencyId: string;
  readonly toCurrencyId: string;
  readonly amountIn: string;
  /** Payout at the prices that the import states. */
  readonly expectedOut: string;
}

export interface StampInputs {
  readonly from: SideInput | null;
  readonly to: SideInput | null;
  /** Prices of both sides and of every hop; a side comes before its hops. */
  readonly prices: readonly PriceInput[];
  readonly baskets: readonly BasketInput[];
  /** Currencies in these baskets that count as one dollar. */
  readonly anchors: readonly string[];
  /** By currency, once the bounds are final: median of the daily prices around the day, and their number. */
  readonly bounds?: Readonly<Record<string, { readonly median: string; readonly days: number }>>;
  readonly noDelivery?: NoDeliveryInput;
}
