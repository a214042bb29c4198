/** Finds the baskets that convert one currency into another, and their mid prices, from stored states without a daemon. */
import { SATOSHIS_PER_COIN } from '../../../domain/satoshi.ts';
import type { LiveBasket } from './live-baskets.ts';

/** One conversion through one basket. */
export interface Leg {
  readonly basket: LiveBasket;
  readonly from: string;
  readonly to: string;
  /** Units of `to` for one of `from` before fees and slippage; a double, good for computing slippage but not money. */
  readonly midRate: number;
}

export type ConversionRoute = readonly [Leg] | readonly [Leg, Leg];

/** A basket with the price of one unit of each member, its own token included, in that token. */
interface Priced {
  readonly basket: LiveBasket;
  readonly prices: ReadonlyMap<string, number>;
}

const COIN = Number(SATOSHIS_PER_COIN);

function priced(basket: LiveBasket): Priced {
  const members = basket.reserves.filter(({ reserves, weight }) => reserves > 0n && weight > 0n);
  // Not the state's printed price: it has 8 decimals, too few significant digits for a valuable reserve.
  const tokens = Number(basket.supply) / COIN;
  const prices = members.map(
    ({ currencyId, reserves, weight }) => [currencyId, (tokens * Number(weight)) / Number(reserves)] as const,
  );
  return { basket, prices: new Map([...prices, [basket.currencyId, 1]]) };
}

function legOf({ basket, prices }: Priced, from: string, to: string): Leg | null {
  const [sold, bought] = [prices.get(from), prices.get(to)];
  return sold === undefined || bought === undefined ? null : { basket, from, to, midRate: sold / bought };
}

export const midRateOf = (route: ConversionRoute): number => route.reduce((rate, leg) => rate * leg.midRate, 1);

/** All routes through one basket, and through two baskets with one currency in between. */
export function routesBetween(baskets: readonly LiveBasket[], from: string, to: string): ConversionRoute[] {
  if (from === to) return [];
  const all = baskets.map(priced);
  const routes: ConversionRoute[] = all.flatMap((basket): ConversionRoute[] => {
    const leg = legOf(basket, from, to);
    return leg ? [[leg]] : [];
  });
  const ends = all.filter(({ prices }) => prices.has(to));
  for (const first of all.filter(({ prices }) => prices.has(from))) {
    for (const between of first.prices.keys()) {
      if (between === from || between === to) continue;
      const start = legOf(first, from, between);
      for (const second of ends) {
        const end = second === first ? null : legOf(second, between, to);
        if (start && end) routes.push([start, end]);
      }
    }
  }
  return routes;
}
