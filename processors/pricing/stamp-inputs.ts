/** The inputs of a stamp, as JSON: both sides, the prices down to the baskets behind them, and the states of these baskets. */

import type { BasketState } from '../../domain/basket-state.ts';
import { formatPrice, parsePrice, toPrice } from '../../domain/decimal.ts';
import type { BasketInput, EntryInput, PriceInput, SideInput, StampInputs } from '../../domain/stamp-inputs.ts';
import type { NoDelivery } from './no-delivery.ts';
import type { PriceEntry, QuotedPrice } from './quoted-price.ts';
import type { ConversionSide } from './stamp-decision.ts';

/** Inputs of a stamp whose sides have these prices; a side that plays no part is null. */
export function stampInputs(
  from: ConversionSide | null,
  to: ConversionSide | null,
  quotes: readonly QuotedPrice[],
  anchors: ReadonlySet<string>,
): StampInputs {
  const prices = new Map<QuotedPrice, PriceInput>();
  const baskets = new Map<BasketState, BasketInput>();
  const visit = (quote: QuotedPrice): void => {
    if (prices.has(quote)) return;
    const entries = quote.tier === 0 ? [] : quote.entries;
    prices.set(quote, priceInput(quote, entries));
    for (const { basket, hop } of entries) {
      if (!baskets.has(basket)) baskets.set(basket, basketInput(basket));
      if (hop) visit(hop);
    }
  };
  for (const quote of quotes) visit(quote);
  return {
    from: from && sideInput(from),
    to: to && sideInput(to),
    prices: [...prices.values()],
    baskets: [...baskets.values()],
    anchors: heldAnchors([...baskets.keys()], anchors),
  };
}

/** Inputs of a stamp that has no USD because nothing was delivered. */
export function noDeliveryInputs({ basket, amountIn, expectedOut, ...currencies }: NoDelivery): StampInputs {
  const { chain, basketId } = basket;
  const amounts = { amountIn: String(amountIn), expectedOut: String(expectedOut) };
  const baskets = [basketInput(basket)];
  return {
    from: null,
    to: null,
    prices: [],
    baskets,
    anchors: [],
    noDelivery: { chain, basketId, ...currencies, ...amounts },
  };
}

function heldAnchors(baskets: readonly BasketState[], anchors: ReadonlySet<string>): string[] {
  const held = new Set(baskets.flatMap(({ reserves }) => reserves.map(({ currencyId }) => currencyId)));
  return [...held].filter((currencyId) => anchors.has(currencyId)).sort();
}

/** The entries as a row of prices stores them, without the hops, which are in the rows of the other currencies. */
export function rowEntries({ entries }: Pick<QuotedPrice, 'entries'>): Omit<EntryInput, 'hop'>[] {
  return entries.map(entryInput).map(({ hop: _, ...entry }) => entry);
}

function entryInput({ basket, price, depth, hop }: PriceEntry): EntryInput {
  return {
    chain: basket.chain,
    basketId: basket.basketId,
    price: formatPrice(toPrice(price)),
    depth: formatPrice(toPrice(depth)),
    hop: hop?.currencyId ?? null,
  };
}

function priceInput(quote: QuotedPrice, entries: readonly PriceEntry[]): PriceInput {
  return {
    currencyId: quote.currencyId,
    tier: quote.tier,
    usd: formatPrice(quote.usd),
    totalDepth: formatPrice(toPrice(quote.totalDepth)),
    sourceBasket: quote.sourceBasket?.basketId ?? null,
    entries: entries.map(entryInput),
  };
}

function basketInput({ chain, basketId, height, supply, reserves }: BasketState): BasketInput {
  const held = reserves.map(({ currencyId, reserves, weight }) => ({
    currencyId,
    reserves: String(reserves),
    weight: String(weight),
  }));
  return { chain, basketId, height, supply: String(supply), reserves: held };
}

function sideInput({ amount, price, ...side }: ConversionSide): SideInput {
  return { ...side, amount: String(amount), usd: price === null ? null : formatPrice(price) };
}

/** Restores the side from its stored input. */
export function sideOf({ amount, usd, ...side }: SideInput): ConversionSide {
  return { ...side, amount: BigInt(amount), price: usd === null ? null : parsePrice(usd) };
}
