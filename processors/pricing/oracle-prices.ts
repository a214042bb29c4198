/** Oracle prices at one moment: anchors, then baskets with anchors as reserves, then two hops through currencies priced so far. */
import { type BasketReserve, type BasketState, coins, priceInReserve } from '../../domain/basket-state.ts';
import { isStorablePrice, toPrice } from '../../domain/decimal.ts';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { PriceTier } from '../../domain/prices.ts';
import { add, compare, divide, larger, multiply, ONE, type Rational, smaller, ZERO } from '../../domain/rational.ts';
import type { PriceEntry, QuotedPrice } from './quoted-price.ts';
import { weightedPrice } from './weighted-price.ts';

export interface OraclePrice extends QuotedPrice {
  readonly tier: PriceTier;
}

export type OraclePrices = ReadonlyMap<string, OraclePrice>;

export interface OracleInput {
  /** Live baskets in the order of their chains. */
  readonly baskets: readonly BasketState[];
  readonly anchors: ReadonlySet<string>;
  /** Native currency of each chain. */
  readonly natives: ReadonlyMap<string, string>;
  /** USD that a basket needs to price anything. */
  readonly minDepth: Rational;
}

type Entries = Map<string, PriceEntry[]>;

/** Prices of every currency that the baskets reach; a currency without a price is absent. */
export function oraclePrices(input: OracleInput): OraclePrices {
  const anchored = new Map<BasketState, Rational>();
  for (const basket of input.baskets) {
    const depth = anchorDepth(basket, input.anchors);
    if (depth.n > 0n && compare(depth, input.minDepth) >= 0) anchored.set(basket, depth);
  }
  const prices = anchorPrices(input.anchors, anchored);
  settle(prices, directEntries(anchored, input.anchors), 1);
  const others = input.baskets.filter((basket) => !anchored.has(basket));
  settle(prices, hopEntries(others, prices, input), 2);
  settle(prices, hopEntries(others, prices, input), 3);
  return prices;
}

function anchorDepth(basket: BasketState, anchors: ReadonlySet<string>): Rational {
  return anchorReserves(basket, anchors).reduce((sum, { reserves }) => add(sum, coins(reserves)), ZERO);
}

function anchorReserves(basket: BasketState, anchors: ReadonlySet<string>): readonly BasketReserve[] {
  return basket.reserves.filter(
    ({ currencyId, reserves, weight }) => anchors.has(currencyId) && reserves > 0n && weight > 0n,
  );
}

function anchorPrices(anchors: ReadonlySet<string>, anchored: ReadonlyMap<BasketState, Rational>) {
  const prices = new Map<string, OraclePrice>();
  for (const currencyId of anchors) {
    const entries = [...anchored]
      .filter(([basket]) =>
        basket.reserves.some((reserve) => reserve.currencyId === currencyId && reserve.reserves > 0n),
      )
      .map(([basket, depth]): PriceEntry => ({ basket, price: ONE, depth, hop: null }));
    const mean = weightedPrice(entries);
    const from = { totalDepth: mean?.depth ?? ZERO, sourceBasket: mean?.sourceBasket ?? null };
    prices.set(currencyId, {
      currencyId,
      tier: 0,
      exact: ONE,
      usd: toPrice(ONE),
      ...from,
      entries: mean?.entries ?? [],
    });
  }
  return prices;
}

/** Tier 1: the basket token is worth the reserve-weighted mean of its anchors' prices in reserve. */
function directEntries(anchored: ReadonlyMap<BasketState, Rational>, anchors: ReadonlySet<string>): Entries {
  const entries: Entries = new Map();
  for (const [basket, depth] of anchored) {
    let weighted = ZERO;
    for (const reserve of anchorReserves(basket, anchors)) {
      const pir = priceInReserve(basket, reserve);
      if (pir) weighted = add(weighted, multiply(pir, coins(reserve.reserves)));
    }
    addEntries(entries, basket, divide(weighted, depth), depth, null);
  }
  return entries;
}

/** Tiers 2 and 3: through one reserve of each basket, the best one that has a price so far. */
function hopEntries(baskets: readonly BasketState[], prices: OraclePrices, input: OracleInput): Entries {
  const entries: Entries = new Map();
  for (const basket of baskets) {
    const hop = hopAnchor(basket, prices, input);
    if (!hop) continue;
    const depth = smaller(hop.price.totalDepth, hop.value);
    if (depth.n > 0n) addEntries(entries, basket, multiply(hop.price.exact, hop.pir), depth, hop.price);
  }
  return entries;
}

interface HopAnchor {
  readonly price: OraclePrice;
  readonly pir: Rational;
  /** USD of the reserve. */
  readonly value: Rational;
}

/** The chain's native currency if it is priced and deep enough, else the reserve of largest USD value (tie: smallest id). */
function hopAnchor(basket: BasketState, prices: OraclePrices, input: OracleInput): HopAnchor | null {
  let best: HopAnchor | null = null;
  for (const reserve of basket.reserves) {
    const price = prices.get(reserve.currencyId);
    const pir = priceInReserve(basket, reserve);
    if (!price || !pir) continue;
    const value = multiply(price.exact, coins(reserve.reserves));
    if (compare(value, input.minDepth) < 0) continue;
    const candidate = { price, pir, value };
    if (reserve.currencyId === input.natives.get(basket.chain)) return candidate;
    if (!best || isLarger(candidate, best)) best = candidate;
  }
  return best;
}

function isLarger(a: HopAnchor, b: HopAnchor): boolean {
  const order = compare(a.value, b.value);
  return order > 0 || (order === 0 && a.price.currencyId < b.price.currencyId);
}

/** One entry for the basket token and one for each of its reserves, without prices that the stores could not contain. */
function addEntries(
  entries: Entries,
  basket: BasketState,
  usd: Rational,
  depth: Rational,
  hop: OraclePrice | null,
): void {
  const add = (currencyId: string, price: Rational) => {
    if (!isStorablePrice(price)) return;
    getOrInsert(entries, currencyId, () => []).push({ basket, price, depth, hop });
  };
  add(basket.basketId, usd);
  for (const reserve of basket.reserves) {
    const pir = priceInReserve(basket, reserve);
    if (pir) add(reserve.currencyId, divide(usd, pir));
  }
}

/** Prices currencies that have no price yet: the lowest tier wins and tiers are never mixed. */
function settle(prices: Map<string, OraclePrice>, said: Entries, tier: PriceTier): void {
  const found: OraclePrice[] = [];
  for (const [currencyId, list] of said) {
    if (prices.has(currencyId)) continue;
    const mean = weightedPrice(list);
    if (!mean) continue;
    const totalDepth = capByHop(mean.depth, mean.entries);
    const { exact, sourceBasket, entries } = mean;
    found.push({ currencyId, tier, exact, usd: toPrice(exact), totalDepth, sourceBasket, entries });
  }
  for (const price of found) prices.set(price.currencyId, price);
}

/** The depth of a price through hops is at most that of the deepest hop anchor. */
function capByHop(depth: Rational, entries: readonly PriceEntry[]): Rational {
  const hops = entries.flatMap(({ hop }) => hop?.totalDepth ?? []);
  return hops.length === 0 ? depth : smaller(depth, hops.reduce(larger));
}
