/** Routes between currencies through the trading baskets at their current prices: an indication without fees and slippage. */
export interface TradingBasket {
  readonly currencyId: string;
  readonly name: string;
  readonly chain: string;
  readonly reserves: readonly {
    readonly currencyId: string;
    readonly name: string | null;
    /** Coins of the reserve for one token of the basket. */
    readonly priceInReserve: string;
  }[];
}

export interface Leg {
  readonly basket: string;
  readonly from: string;
  readonly to: string;
}

export interface IndicatedRoute {
  readonly chain: string;
  readonly legs: readonly Leg[];
  /** Units of the last currency for one unit of the first. */
  readonly rate: number;
}

interface Step extends Leg {
  readonly chain: string;
  readonly rate: number;
}

/** Units of each currency for one token of the basket, including the token itself. */
function sidesOf({ currencyId, reserves }: TradingBasket): ReadonlyMap<string, number> {
  const priced = reserves.filter(({ priceInReserve }) => Number(priceInReserve) > 0);
  return new Map([[currencyId, 1], ...priced.map((side) => [side.currencyId, Number(side.priceInReserve)] as const)]);
}

function stepsFrom(baskets: readonly TradingBasket[], from: string): Step[] {
  return baskets.flatMap((basket) => {
    const sides = sidesOf(basket);
    const given = sides.get(from);
    if (given === undefined) return [];
    const others = [...sides].filter(([to]) => to !== from);
    return others.map(([to, units]) => ({
      basket: basket.currencyId,
      chain: basket.chain,
      from,
      to,
      rate: units / given,
    }));
  });
}

/** Returns routes through one basket, or two baskets of the same chain, the best first. */
export function indicatedRoutes(baskets: readonly TradingBasket[], from: string, to: string): IndicatedRoute[] {
  const routes = stepsFrom(baskets, from).flatMap((first): IndicatedRoute[] => {
    const { chain, rate } = first;
    if (first.to === to) return [{ chain, legs: [first], rate }];
    return stepsFrom(baskets, first.to)
      .filter((second) => second.to === to && second.chain === chain && second.basket !== first.basket)
      .map((second) => ({ chain, legs: [first, second], rate: rate * second.rate }));
  });
  return routes.sort((a, b) => b.rate - a.rate);
}
