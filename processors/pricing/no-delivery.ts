/**
 * The backfill regime's rule for a conversion that no output of its import pays: if it was executed more than 50 % off the market and
 * neither of its currencies has a value beyond doubt, it counts as refunded. Integers and exact fractions; nothing here is rounded.
 */

import { type BasketState, priceInReserve } from '../../domain/basket-state.ts';
import { parseExact } from '../../domain/json/exact-json.ts';
import { absolute, compare, divide, ONE, type Rational, rational, subtract } from '../../domain/rational.ts';
import type { TransferKind } from '../../domain/transfers.ts';
import type { CurrencyStateFact, TransferFact } from '../../schemas/facts.ts';
import type { DaemonCurrencyState } from '../../schemas/verusd/conversion-objects.ts';
import { expectedPayout } from '../transfers/transfer-amounts.ts';
import { importPrices } from '../transfers/transfer-payouts.ts';

/** A conversion to which the rule applies, with the evidence. */
export interface NoDelivery {
  readonly fromCurrencyId: string;
  readonly toCurrencyId: string;
  /** Satoshis, including the conversion fee. */
  readonly amountIn: bigint;
  /** Satoshis that the import would pay for it at the prices that it states. */
  readonly expectedOut: bigint;
  /** The basket that converts, after the import's block. */
  readonly basket: BasketState;
}

/** State at the end of the import's block. */
export interface DeliveryContext {
  /** States that the block left, in order. */
  readonly states: readonly Pick<CurrencyStateFact, 'currencyId' | 'txid' | 'state'>[];
  /** States of the chain after the block. */
  readonly baskets: ReadonlyMap<string, BasketState>;
  /** Whether the value of a currency is beyond doubt: true for an anchor and for the chain's native currency. */
  readonly isTruth: (currencyId: string) => boolean;
}

/** Kinds that turn one currency into another; a mint pays nothing in, and a burn requests nothing. */
const CONVERTING: ReadonlySet<TransferKind> = new Set(['convert', 'via', 'preconvert']);

/**
 * Returns null when the rule does not apply: a payout was found, a side is beyond doubt, the import states no price, its currency is
 * no basket, or it was executed near the market. @throws RangeError when a price of the state is not a valid amount
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

/** Units of `to` for one unit of `from` by the basket's reserves; null when the basket has no price for one of the two. */
export function marketRate(basket: BasketState, from: string, to: string): Rational | null {
  const [priceFrom, priceTo] = [priceInBasket(basket, from), priceInBasket(basket, to)];
  return priceFrom && priceTo && divide(priceTo, priceFrom);
}

/** True when `rate` is more than 50 % above or below the market's rate. */
export function isFarOff(rate: Rational, market: Rational): boolean {
  const { n, d } = absolute(subtract(rate, market));
  return compare({ n: 2n * n, d }, market) > 0;
}

/** Units of a currency for one basket token; 1 for the basket token itself. */
function priceInBasket(basket: BasketState, currencyId: string): Rational | null {
  if (currencyId === basket.basketId) return ONE;
  const reserve = basket.reserves.find((held) => held.currencyId === currencyId);
  return reserve && basket.supply > 0n ? priceInReserve(basket, reserve) : null;
}
