/** /api/tickers: the pairs of all baskets as CoinGecko, CoinMarketCap and CoinPaprika read them. */

import { satoshisToCoins } from '../../../domain/satoshi.ts';
import { stateRoute } from '../../http/route.ts';
import type { JsonSchema } from '../../schema/json-schema.ts';
import { PROVISIONAL_SINCE, provisionalList } from '../../state/priced-rows.ts';
import { type Pairs, readPairs } from './pairs.ts';
import { coinGeckoTickers, coinMarketCapTickers, coinPaprikaTickers } from './ticker-schema.ts';
import { eightDecimals, marketsOf, symbolOf } from './tickers.ts';

function tickers(path: string, aggregator: string, response: JsonSchema, print: (pairs: Pairs) => unknown) {
  return stateRoute({
    path,
    summary: `Every pair of currencies in the format of ${aggregator}`,
    parameters: {},
    response,
    headers: [PROVISIONAL_SINCE],
    weight: 2,
    tier: null,
    cache: 'prepared',
    scope: 'all',
    async handler({ read, api }) {
      const pairs = await readPairs(read, api);
      return provisionalList(pairs.provisionalSince, print(pairs));
    },
  });
}

const nameIn =
  ({ market }: Pairs) =>
  (currencyId: string) =>
    market.currencies.name(currencyId) ?? currencyId;

function coinGecko(given: Pairs) {
  const name = nameIn(given);
  return given.pairs.map(({ basket, base, quote, prices, volumeBase, volumeQuote, liquidity }) => {
    const [baseSymbol, targetSymbol] = [symbolOf(name(base)), symbolOf(name(quote))];
    const last = eightDecimals(prices.close.value);
    return {
      ticker_id: `${baseSymbol}_${targetSymbol}`,
      base_currency: baseSymbol,
      target_currency: targetSymbol,
      pool_id: basket.name,
      last_price: last,
      base_volume: satoshisToCoins(volumeBase),
      target_volume: satoshisToCoins(volumeQuote),
      bid: last,
      ask: last,
      open: eightDecimals(prices.open.value),
      high: eightDecimals(prices.high.value),
      low: eightDecimals(prices.low.value),
      liquidity_in_usd: eightDecimals(liquidity ?? 0n),
    };
  });
}

function coinMarketCap(given: Pairs) {
  const name = nameIn(given);
  const entries = marketsOf(given.pairs).map(({ deepest, volumeBase, volumeQuote }) => {
    const { base, quote, prices } = deepest;
    const ticker = {
      base_id: base,
      base_name: name(base),
      base_symbol: symbolOf(name(base)),
      quote_id: quote,
      quote_name: name(quote),
      quote_symbol: symbolOf(name(quote)),
      last_price: eightDecimals(prices.close.value),
      base_volume: satoshisToCoins(volumeBase),
      quote_volume: satoshisToCoins(volumeQuote),
    };
    return [`${base}_${quote}`, ticker] as const;
  });
  return Object.fromEntries(entries);
}

function coinPaprika(given: Pairs) {
  const name = nameIn(given);
  return marketsOf(given.pairs).map(({ deepest, volumeBase }) => {
    const { base, quote, prices } = deepest;
    return {
      symbol: `${symbolOf(name(base))}-${symbolOf(name(quote))}`,
      symbolName: `${name(base)}/${name(quote)}`,
      volume: satoshisToCoins(volumeBase),
      last: eightDecimals(prices.close.value),
      high: eightDecimals(prices.high.value),
      low: eightDecimals(prices.low.value),
      open: eightDecimals(prices.open.value),
    };
  });
}

export const tickerRoutes = [
  tickers('/api/tickers/coingecko', 'CoinGecko', coinGeckoTickers, coinGecko),
  tickers('/api/tickers/coinmarketcap', 'CoinMarketCap', coinMarketCapTickers, coinMarketCap),
  tickers('/api/tickers/coinpaprika', 'CoinPaprika', coinPaprikaTickers, coinPaprika),
];
