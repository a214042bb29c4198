/** /api/tickers: the pairs of all baskets in the formats of CoinGecko, CoinMarketCap and CoinPaprika. */

import { satoshisToCoins } from '../../../domain/satoshi.ts';
import { type StateCall, stateRoute } from '../../http/route.ts';
import { PROVISIONAL_SINCE, provisionalList } from '../../state/priced-rows.ts';
import { type Pairs, readPairs } from './pairs.ts';
import { coinGeckoTickers, coinMarketCapTickers, coinPaprikaTickers } from './ticker-schema.ts';
import { marketsOf, priceText, symbolOf, usdText } from './tickers.ts';

const shared = {
  parameters: {},
  headers: [PROVISIONAL_SINCE],
  weight: 2,
  cache: 'prepared',
  scope: 'all',
} as const;
const summaryFor = (aggregator: string) => `Every pair of currencies in the format of ${aggregator}`;

async function tickers<T>({ read, api }: StateCall, print: (pairs: Pairs) => T) {
  const pairs = await readPairs(read, api);
  return provisionalList(pairs.provisionalSince, print(pairs));
}

const nameIn =
  ({ market }: Pairs) =>
  (currencyId: string) =>
    market.currencies.name(currencyId) ?? currencyId;

function coinGecko(given: Pairs) {
  const name = nameIn(given);
  return given.pairs.map(({ basket, base, quote, prices, volumeBase, volumeQuote, liquidity }) => {
    const [baseSymbol, targetSymbol] = [symbolOf(name(base)), symbolOf(name(quote))];
    const last = priceText(prices.close.value);
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
      open: priceText(prices.open.value),
      high: priceText(prices.high.value),
      low: priceText(prices.low.value),
      liquidity_in_usd: usdText(liquidity ?? 0n),
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
      last_price: priceText(prices.close.value),
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
      last: priceText(prices.close.value),
      high: priceText(prices.high.value),
      low: priceText(prices.low.value),
      open: priceText(prices.open.value),
    };
  });
}

const forCoinGecko = stateRoute({
  ...shared,
  path: '/api/tickers/coingecko',
  summary: summaryFor('CoinGecko'),
  response: coinGeckoTickers,
  handler: (call) => tickers(call, coinGecko),
});
const forCoinMarketCap = stateRoute({
  ...shared,
  path: '/api/tickers/coinmarketcap',
  summary: summaryFor('CoinMarketCap'),
  response: coinMarketCapTickers,
  handler: (call) => tickers(call, coinMarketCap),
});
const forCoinPaprika = stateRoute({
  ...shared,
  path: '/api/tickers/coinpaprika',
  summary: summaryFor('CoinPaprika'),
  response: coinPaprikaTickers,
  handler: (call) => tickers(call, coinPaprika),
});

export const tickerRoutes = [forCoinGecko, forCoinMarketCap, forCoinPaprika];
