/** /api/market/pairs */
import { array } from '../../schemas/rest/json-schema.ts';
import { marketPair } from '../../schemas/rest/market.ts';
import type { ApiContext } from '../api-context.ts';
import { stateRoute } from '../http/route.ts';
import { coins } from '../http/values.ts';
import { type LiveBasket, type Market, readMarket } from '../market/live-baskets.ts';
import { candle, statesSince } from '../market/pair-prices.ts';
import { changePercent } from '../market/price-past.ts';
import { readTrades, type SideVolume } from '../market/trades.ts';
import { printUsd, printUsdOrNull } from '../market/usd.ts';
import { daysBefore } from '../market/volume-series.ts';

/** Anchors are quotes first, then native coins, then the other reserves; a basket's token is always a base. */
function quoteRank(api: ApiContext, basket: LiveBasket, currencyId: string): number {
  if (api.config.chains.some((chain) => chain.stableAnchors.includes(currencyId))) return 0;
  if (api.config.chains.some((chain) => api.currencies.nativeId(chain) === currencyId)) return 1;
  return currencyId === basket.currencyId ? 3 : 2;
}

/** Every two currencies of a basket, its own token included. */
function pairsOf(api: ApiContext, basket: LiveBasket): { readonly base: string; readonly quote: string }[] {
  const ids = [basket.currencyId, ...basket.reserves.map((reserve) => reserve.currencyId)];
  return ids.flatMap((a, index) =>
    ids.slice(index + 1).map((b) => {
      const aQuotes = quoteRank(api, basket, a) < quoteRank(api, basket, b);
      return aQuotes ? { base: b, quote: a } : { base: a, quote: b };
    }),
  );
}

function volumesOf(sides: readonly SideVolume[], basketId: string, base: string, quote: string) {
  let [volumeBase, volumeQuote, volumeUsd] = [0n, 0n, 0n];
  for (const side of sides) {
    const sells = side.fromId === base && side.toId === quote;
    const buys = side.fromId === quote && side.toId === base;
    if (side.basketId !== basketId || (!sells && !buys)) continue;
    volumeBase += sells ? side.amountIn : side.amountOut;
    volumeQuote += sells ? side.amountOut : side.amountIn;
    volumeUsd += side.volume;
  }
  return { volumeBase: coins(volumeBase), volumeQuote: coins(volumeQuote), volumeUsd: printUsd(volumeUsd) };
}

/** USD of both sides in the basket; a basket's own token stands for all that it holds. */
function liquidity(market: Market, basket: LiveBasket, ids: readonly string[]): bigint | null {
  const held = (id: string) => basket.reserves.find((reserve) => reserve.currencyId === id)?.reserves ?? 0n;
  if (ids.includes(basket.currencyId)) return market.tvl(basket);
  const values = ids.map((id) => market.worth(id, held(id)));
  return values.reduce<bigint | null>((sum, value) => (sum === null || value === null ? null : sum + value), 0n);
}

const pairs = stateRoute({
  path: '/api/market/pairs',
  summary: 'Every pair of every basket with its prices and volume of 24 hours',
  parameters: {},
  response: array(marketPair),
  weight: 2,
  tier: null,
  cache: 'prepared',
  scope: 'all',
  async handler({ read, api }) {
    const market = await readMarket(read, api);
    const trades = await readTrades(read, api);
    const yesterday = daysBefore(trades.end, 1);
    const sides = await trades.bySides(yesterday);
    const rows: unknown[] = [];
    for (const basket of market.baskets) {
      const states = await statesSince(read, basket.chain, basket.currencyId, yesterday);
      for (const { base, quote } of pairsOf(api, basket)) {
        const prices = candle(states, basket.currencyId, base, quote);
        if (!prices) continue;
        const { open, high, low, close } = prices;
        rows.push({
          basket: basket.name,
          basketId: basket.currencyId,
          chain: basket.chain,
          base: market.currencies.name(base),
          baseId: base,
          quote: market.currencies.name(quote),
          quoteId: quote,
          price: close,
          open,
          high,
          low,
          close,
          ...volumesOf(sides, basket.currencyId, base, quote),
          liquidity: printUsdOrNull(liquidity(market, basket, [base, quote])),
          change24h: changePercent(close.value, open.value),
        });
      }
    }
    return rows;
  },
});

export const marketPairRoutes = [pairs];
