/**
 * The backfill regime's word on a conversion that no output of its import answers: executed more than half off the market, with
 * nothing in it whose worth is beyond doubt, it counts as refunded. Integers and exact fractions; nothing here is rounded.
 */

import { type BasketState, priceInReserve } from '../../domain/basket-state.ts';
import { parseExact } from '../../domain/json/exact-json.ts';
import { absolute, compare, divide, ONE, type Rational, rational, subtract } from '../../domain/rational.ts';
import type { TransferKind } from '../../domain/transfers.ts';
import type { CurrencyStateFact, TransferFact } from '../../schemas/facts.ts';
import type { DaemonCurrencyState } from '../../schemas/verusd/conversion-objects.ts';
import { expectedPayout } from '../transfers/transfer-amounts.ts';
import { importPrices } from '../transfers/transfer-payouts.ts';

/** A conversion to which the rule applies, and what says so. */
export interface NoDelivery {
  readonly fromCurrencyId: string;
  readonly toCurrencyId: string;
  /** Satoshis, the conversion fee inside. */
  readonly amountIn: bigint;
  /** Satoshis: what the import pays for it at the prices that it states. */
  readonly expectedOut: bigint;
  /** The basket that converts, after the import's block. */
  readonly basket: BasketState;
}

/** What is known at the end of the import's block. */
export interface DeliveryContext {
  /** Those that the block left, in order. */
  readonly states: readonly Pick<CurrencyStateFact, 'currencyId' | 'txid' | 'state'>[];
  /** States of the chain after the block. */
  readonly baskets: ReadonlyMap<string, BasketState>;
  /** Whether the worth of a currency is beyond doubt: an anchor, or the chain's native one. */
  readonly isTruth: (currencyId: string) => boolean;
}

/** What goes in comes out as something else; a mint puts nothing in, and a burn asks for nothing. */
const CONVERTING: ReadonlySet<TransferKind> = new Set(['convert', 'via', 'preconvert']);

/**
 * Null where the rule says nothing: a payout was found, a side is beyond doubt, the import states no price, its currency is no
 * basket, or it was executed near the market. @throws RangeError when a price of the state is no amount
 */
export function noDelivery(transfer: TransferFact, context: DeliveryContext): NoDelivery | null {
  const { status, kind, fromCurrencyId, toCurrencyId, importCurrencyId, importTxid, amountIn } = transfer;
  if (status !== 'unmatched' || !CONVERTING.has(kind) || fromCurrencyId === null || amountIn <= 0n) return null;
  if (context.isTruth(fromCurrencyId) || context.isTruth(toCurrencyId)) return null;
  const basket = context.baskets.get(importCurrencyId);
  const stated = context.states.find(({ txid, currencyId }) => txid === importTxid && currencyId === importCurrencyId);
  if (!basket || !stated) return null;
  const prices = importPrices(parseExact(stated.state) as DaemonCurrencyState);
  const expected = prices.isBasket ? expectedPayout(transfer, prices) : null;
  const market = marketRate(basket, fromCurrencyId, toCurrencyId);
  if (!expected || !market || !isFarOff(rational(expected.amount, amountIn), market)) return null;
  return { fromCurrencyId, toCurrencyId, amountIn, expectedOut: expected.amount, basket };
}

/** Units of `to` for one of `from` by what the basket holds; null where it has no price for one of them. */
export function marketRate(basket: BasketState, from: string, to: string): Rational | null {
  const [priceFrom, priceTo] = [priceInBasket(basket, from), priceInBasket(basket, to)];
  return priceFrom && priceTo && divide(priceTo, priceFrom);
}

/** More than 50 % of the market's rate above or below it. */
export function isFarOff(rate: Rational, market: Rational): boolean {
  const { n, d } = absolute(subtract(rate, market));
  return compare({ n: 2n * n, d }, market) > 0;
}

/** Units for one token of the basket, which is one of its own. */
function priceInBasket(basket: BasketState, currencyId: string): Rational | null {
  if (currencyId === basket.basketId) return ONE;
  const reserve = basket.reserves.find((held) => held.currencyId === currencyId);
  return reserve && basket.supply > 0n ? priceInReserve(basket, reserve) : null;
}
