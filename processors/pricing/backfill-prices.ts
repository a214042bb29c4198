/** Prices of the backfill regime: by the chain's own baskets, from their first live block on, and NAV for basket tokens. */
import { type BasketState, coins, priceInReserve } from '../../domain/basket-state.ts';
import { isStorablePrice, toPrice } from '../../domain/decimal.ts';
import { compare, multiply, ONE, type Rational } from '../../domain/rational.ts';
import { type OraclePrice, type OraclePrices, oraclePrices } from './oracle-prices.ts';
import type { QuotedPrice } from './quoted-price.ts';

export interface BackfillInput {
  /** Trading baskets of one chain, whatever their age. */
  readonly baskets: readonly BasketState[];
  readonly anchors: ReadonlySet<string>;
  readonly nativeCurrencyId: string;
}

export type BackfillPrices = ReadonlyMap<string, QuotedPrice>;

export function backfillPrices({ baskets, anchors, nativeCurrencyId }: BackfillInput): BackfillPrices {
  const natives = new Map(baskets.map(({ chain }) => [chain, nativeCurrencyId]));
  const tiers = oraclePrices({ baskets, anchors, natives, minDepth: ONE });
  const prices = new Map<string, QuotedPrice>(tiers);
  for (const basket of baskets) {
    const nav = anchors.has(basket.basketId) ? null : netAssetValue(basket, tiers, anchors, nativeCurrencyId);
    if (nav) prices.set(basket.basketId, nav);
  }
  return prices;
}

interface NavAnchor {
  readonly price: OraclePrice;
  readonly pir: Rational;
  /** 2 for a stable anchor, 1 for the native currency, 0 for another priced reserve. */
  readonly rank: number;
  readonly value: Rational;
}

/** Values the token at its target reserves: the best anchor's tier price times the token's price in that reserve. */
function netAssetValue(
  basket: BasketState,
  tiers: OraclePrices,
  anchors: ReadonlySet<string>,
  native: string,
): QuotedPrice | null {
  let best: NavAnchor | null = null;
  for (const reserve of basket.reserves) {
    const price = tiers.get(reserve.currencyId);
    const pir = priceInReserve(basket, reserve);
    if (!price || !pir) continue;
    const rank = anchors.has(reserve.currencyId) ? 2 : reserve.currencyId === native ? 1 : 0;
    const candidate = { price, pir, rank, value: multiply(price.exact, coins(reserve.reserves)) };
    if (!best || isBetter(candidate, best)) best = candidate;
  }
  if (!best) return null;
  const { price: hop, pir } = best;
  const exact = multiply(hop.exact, pir);
  if (!isStorablePrice(exact)) return null;
  const entries = [{ basket, price: exact, depth: hop.totalDepth, hop }];
  const { totalDepth } = hop;
  return {
    currencyId: basket.basketId,
    tier: 'nav',
    exact,
    usd: toPrice(exact),
    totalDepth,
    sourceBasket: basket,
    entries,
  };
}

/** Anchors are worth 1 each, so their largest value is the largest reserve; ties go to the smallest id. */
function isBetter(a: NavAnchor, b: NavAnchor): boolean {
  if (a.rank !== b.rank) return a.rank > b.rank;
  const order = compare(a.value, b.value);
  return order > 0 || (order === 0 && a.price.currencyId < b.price.currencyId);
}
