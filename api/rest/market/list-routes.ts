/** /api/market/currencies and /api/market/baskets */

import { descending } from '../../../domain/order.ts';
import { formatParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { feesOf, printUsd, printUsdOrNull, type Usd } from '../../http/usd.ts';
import { coins, decimal } from '../../http/values.ts';
import { array } from '../../schema/json-schema.ts';
import { PROVISIONAL_SINCE, pricedRows, provisionalList } from '../../state/priced-rows.ts';
import { changePercent, pricesAt, sparklines } from '../prices/price-past.ts';
import { confidenceOf, priceTip } from '../prices/price-rows.ts';
import { type LiveBasket, largestBaskets, liquidityOf, type Market, readMarket } from './live-baskets.ts';
import { marketBasket, marketCurrency } from './schema.ts';
import { NO_VOLUME, readTrades, type Volume } from './trades.ts';
import { daysBefore, daysBeforeEach } from './volume-series.ts';

const currencies = stateRoute({
  path: '/api/market/currencies',
  summary: 'Every priced currency, most liquid first',
  parameters: formatParameter,
  response: array(marketCurrency),
  headers: [PROVISIONAL_SINCE],
  rows: { member: null },
  weight: 1,
  cache: 'prepared',
  scope: 'all',
  async handler({ read, api }) {
    const market = await readMarket(read, api);
    const priced = await pricedRows(read, api);
    const trades = await readTrades(read, api, priced);
    const yesterday = daysBefore(trades.end, 1);
    const past = await pricesAt(api, priced, [...market.prices.keys()], yesterday);
    const volumes = await trades.byCurrency(yesterday);
    const lines = await sparklines(api, priced, trades.end);
    const tip = priceTip(read, api);
    const rows = [...market.prices.values()].flatMap((row) => {
      const entry = market.currencies.get(row.currency_id);
      return entry ? [{ row, entry, liquidity: liquidityOf(market, row.currency_id) }] : [];
    });
    rows.sort((a, b) => descending(a.liquidity, b.liquidity));
    const answer = rows.map(({ row, entry, liquidity }) => ({
      name: entry.fullyQualifiedName,
      currencyId: entry.currencyId,
      chain: entry.chain,
      price: decimal(row.usd_price),
      change24h: changePercent(row.usd_price, past.get(entry.currencyId)),
      volume24h: printUsd((volumes.get(entry.currencyId) ?? NO_VOLUME).volume),
      liquidity: printUsd(liquidity),
      confidence: confidenceOf(row, tip, row.guard),
      sparkline: lines.get(entry.currencyId) ?? new Array<number>(24).fill(Number(row.usd_price)),
    }));
    return provisionalList(priced.provisionalSince(trades.end), answer);
  },
});

function basketAnswer(market: Market, basket: LiveBasket, tvl: Usd, { volume }: Volume) {
  const price = market.prices.get(basket.currencyId);
  return {
    name: basket.name,
    currencyId: basket.currencyId,
    chain: basket.chain,
    supply: coins(basket.supply),
    price: price ? decimal(price.usd_price) : null,
    tvl: printUsd(tvl),
    volume24h: printUsd(volume),
    fees24h: printUsd(feesOf(volume)),
    inceptionHeight: basket.liveHeight,
    reserves: basket.reserves.map((reserve) => {
      const reservePrice = market.prices.get(reserve.currencyId);
      return {
        currencyId: reserve.currencyId,
        name: market.currencies.name(reserve.currencyId),
        reserve: coins(reserve.reserves),
        weight: coins(reserve.weight),
        priceInReserve: coins(reserve.priceInReserve),
        usdPrice: reservePrice ? decimal(reservePrice.usd_price) : null,
        usdValue: printUsdOrNull(market.worth(reserve.currencyId, reserve.reserves)),
      };
    }),
  };
}

const baskets = stateRoute({
  path: '/api/market/baskets',
  summary: 'Baskets that trade, with their reserves, largest first',
  parameters: formatParameter,
  response: array(marketBasket),
  headers: [PROVISIONAL_SINCE],
  rows: { member: null },
  weight: 1,
  cache: 'prepared',
  scope: 'all',
  async handler({ read, api }) {
    const market = await readMarket(read, api);
    const priced = await pricedRows(read, api);
    const trades = await readTrades(read, api, priced);
    const volumes = await trades.byBasket(daysBeforeEach(trades, 1));
    const rows = largestBaskets(market).map(({ basket, tvl }) =>
      basketAnswer(market, basket, tvl, volumes.get(basket.currencyId) ?? NO_VOLUME),
    );
    return provisionalList(priced.provisionalSince(trades.end), rows);
  },
});

export const marketListRoutes = [currencies, baskets];
