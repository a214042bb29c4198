/** Which baskets turn one currency into another, and at what mid price: known from their states, without asking a daemon. */
import { SATOSHIS_PER_COIN } from '../../../domain/satoshi.ts';
import type { LiveBasket } from './live-baskets.ts';

/** One conversion through one basket. */
export interface Leg {
  readonly basket: LiveBasket;
  readonly from: string;
  readonly to: string;
  /** Units of `to` for one of `from` before fees and slippage; to tell the slippage, not for money. */
  readonly midRate: number;
}

export type ConversionRoute = readonly [Leg] | readonly [Leg, Leg];

/** A basket and what one unit of each of its members is worth in its own token, the token included. */
interface Priced {
  readonly basket: LiveBasket;
  readonly prices: ReadonlyMap<string, number>;
}

const COIN = Number(SATOSHIS_PER_COIN);

function priced(basket: LiveBasket): Priced {
  const members = basket.reserves.filter(({ reserves, weight }) => reserves > 0n && weight > 0n);
  // The price that the state prints has 8 decimals, of which a reserve worth much leaves few.
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

/** Through one basket, and through two with one currency between. */
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
