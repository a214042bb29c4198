/** Every two currencies of every live basket, with prices and volume of the 24 hours before the newest block of the basket's chain. */
import type { ApiContext } from '../../api-context.ts';
import type { Usd } from '../../http/usd.ts';
import { pricedRows } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { type LiveBasket, type Market, readMarket } from './live-baskets.ts';
import { type Candle, candle, statesSince } from './pair-prices.ts';
import { readTrades, type SideVolume } from './trades.ts';
import { daysBefore, daysBeforeEach } from './volume-series.ts';

export interface Pair {
  readonly basket: LiveBasket;
  /** i-addresses. */
  readonly base: string;
  readonly quote: string;
  /** Units of quote for one of base. */
  readonly prices: Candle;
  /** Satoshis. */
  readonly volumeBase: bigint;
  readonly volumeQuote: bigint;
  readonly volumeUsd: Usd;
  /** USD value of both sides in the basket; with the basket's own token, the value of all its reserves. */
  readonly liquidity: Usd | null;
}

export interface Pairs {
  readonly pairs: readonly Pair[];
  readonly market: Market;
  /** Time of the first block whose trades may still change their value; null when there is none. */
  readonly provisionalSince: number | null;
}

/** Lower ranks become the quote: anchors, then native coins, then other reserves; the basket's own token is always the base. */
function quoteRank(api: ApiContext, basketId: string, currencyId: string): number {
  if (api.config.chains.some((chain) => chain.stableAnchors.includes(currencyId))) return 0;
  if (api.config.chains.some((chain) => api.currencies.nativeId(chain) === currencyId)) return 1;
  return currencyId === basketId ? 3 : 2;
}

interface CurrencyPair {
  readonly base: string;
  readonly quote: string;
}

/** Decides which of two currencies of a basket is the base. At equal ranks it is `a`, which precedes `b` in the basket's definition. */
export function pairOf(api: ApiContext, basketId: string, a: string, b: string): CurrencyPair {
  const aQuotes = quoteRank(api, basketId, a) < quoteRank(api, basketId, b);
  return aQuotes ? { base: b, quote: a } : { base: a, quote: b };
}

/** Every two currencies of a basket, its own token included. */
function pairsOf(api: ApiContext, basket: LiveBasket): CurrencyPair[] {
  const ids = [basket.currencyId, ...basket.reserves.map((reserve) => reserve.currencyId)];
  return ids.flatMap((a, index) => ids.slice(index + 1).map((b) => pairOf(api, basket.currencyId, a, b)));
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
  return { volumeBase, volumeQuote, volumeUsd };
}

function liquidityOf(market: Market, basket: LiveBasket, ids: readonly string[]): Usd | null {
  const held = (id: string) => basket.reserves.find((reserve) => reserve.currencyId === id)?.reserves ?? 0n;
  if (ids.includes(basket.currencyId)) return market.tvl(basket);
  const values = ids.map((id) => market.worth(id, held(id)));
  return values.reduce<bigint | null>((sum, value) => (sum === null || value === null ? null : sum + value), 0n);
}

export async function readPairs(read: Snapshot, api: ApiContext): Promise<Pairs> {
  const market = await readMarket(read, api);
  const rows = await pricedRows(read, api);
  const trades = await readTrades(read, api, rows);
  const sides = await trades.bySides(daysBeforeEach(trades, 1));
  const pairs: Pair[] = [];
  for (const basket of market.baskets) {
    const yesterday = daysBefore(trades.ends.get(basket.chain) ?? 0, 1);
    const states = await statesSince(read, basket.chain, basket.currencyId, yesterday);
    for (const { base, quote } of pairsOf(api, basket)) {
      const prices = candle(states, basket.currencyId, base, quote);
      if (!prices) continue;
      const volumes = volumesOf(sides, basket.currencyId, base, quote);
      pairs.push({ basket, base, quote, prices, ...volumes, liquidity: liquidityOf(market, basket, [base, quote]) });
    }
  }
  return { pairs, market, provisionalSince: rows.provisionalSince(trades.end) };
}
