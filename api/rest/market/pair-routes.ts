/** /api/market/pairs */

import { formatParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { printUsd, printUsdOrNull } from '../../http/usd.ts';
import { coins } from '../../http/values.ts';
import { array } from '../../schema/json-schema.ts';
import { PROVISIONAL_SINCE, provisionalList } from '../../state/priced-rows.ts';
import { changePercent } from '../prices/price-past.ts';
import { readPairs } from './pairs.ts';
import { marketPair } from './schema.ts';

const pairs = stateRoute({
  path: '/api/market/pairs',
  summary: 'Every pair of every basket with its prices and volume of 24 hours',
  parameters: formatParameter,
  response: array(marketPair),
  headers: [PROVISIONAL_SINCE],
  rows: { member: null },
  weight: 2,
  cache: 'prepared',
  scope: 'all',
  async handler({ read, api }) {
    const { pairs, market, provisionalSince } = await readPairs(read, api);
    const rows = pairs.map(({ basket, base, quote, prices, volumeBase, volumeQuote, volumeUsd, liquidity }) => ({
      basket: basket.name,
      basketId: basket.currencyId,
      chain: basket.chain,
      base: market.currencies.name(base),
      baseId: base,
      quote: market.currencies.name(quote),
      quoteId: quote,
      price: prices.close,
      ...prices,
      volumeBase: coins(volumeBase),
      volumeQuote: coins(volumeQuote),
      volumeUsd: printUsd(volumeUsd),
      liquidity: printUsdOrNull(liquidity),
      change24h: changePercent(prices.close.value, prices.open.value),
    }));
    return provisionalList(provisionalSince, rows);
  },
});

export const marketPairRoutes = [pairs];
