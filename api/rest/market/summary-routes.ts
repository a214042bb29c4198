/** /api/market/protocol, /overview and /vrsc-pools */

import { descending } from '../../../domain/order.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import { formatParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { feesOf, printUsd, printUsdOrNull } from '../../http/usd.ts';
import { coins, decimal } from '../../http/values.ts';
import { marksIn } from '../../state/marks.ts';
import { pricedRows, provisionalMembers } from '../../state/priced-rows.ts';
import { changePercent, pricesAt } from '../prices/price-past.ts';
import { defaultChain } from '../prices/price-rows.ts';
import { largestBaskets, type Market, readMarket } from './live-baskets.ts';
import { marketOverview, nativePools, protocolSummary } from './schema.ts';
import { NO_VOLUME, readTrades } from './trades.ts';
import { daysBefore, daysBeforeEach, volumeSeries } from './volume-series.ts';

/** Skips baskets in the reserves of other baskets: their own reserves are counted already. */
function protocolTvl(market: Market): bigint {
  const baskets = new Set(market.baskets.map((basket) => basket.currencyId));
  return market.baskets
    .flatMap((basket) => basket.reserves)
    .filter((reserve) => !baskets.has(reserve.currencyId))
    .reduce((sum, reserve) => sum + (market.worth(reserve.currencyId, reserve.reserves) ?? 0n), 0n);
}

/** Native coins of the default chain in each basket, largest first. */
function nativeHoldings(market: Market, nativeId: string) {
  const holdings = market.baskets.flatMap((basket) => {
    const held = basket.reserves.find((reserve) => reserve.currencyId === nativeId);
    return held ? [{ basket, amount: held.reserves }] : [];
  });
  return holdings.sort((a, b) => descending(a.amount, b.amount));
}

function defaultNative(api: ApiContext): string {
  return api.currencies.nativeId(api.chain(defaultChain(api)));
}

/** Counts distinct addresses, because several chains know an exported identity. */
const readCount = rowReader({ count: columns.bigint });
const IDENTITIES_SQL = `SELECT count(*) FROM
  (SELECT FROM identities WHERE to_height IS NULL AND chain = ANY($1) GROUP BY identity_address) AS known`;

const protocol = stateRoute({
  path: '/api/market/protocol',
  summary: 'The protocol in numbers: value locked, identities, currencies, volume, fees',
  parameters: {},
  response: protocolSummary,
  weight: 1,
  cache: 'prepared',
  scope: 'all',
  async handler({ read, api }) {
    const market = await readMarket(read, api);
    const rows = await pricedRows(read, api);
    const trades = await readTrades(read, api, rows);
    const identities = await read.row(readCount, IDENTITIES_SQL, [api.config.chains.map(({ name }) => name)]);
    const month = await trades.total(daysBefore(trades.end, 30));
    const ever = await trades.total(0);
    const nativeId = defaultNative(api);
    const pooled = nativeHoldings(market, nativeId).reduce((sum, { amount }) => sum + amount, 0n);
    const price = market.prices.get(nativeId);
    return {
      tvl: printUsd(protocolTvl(market)),
      identities: Number(identities?.count ?? 0n),
      currencies: [...market.currencies.all()].length,
      baskets: market.baskets.length,
      pbaasChains: api.config.chains.length,
      vrscInPools: coins(pooled),
      vrscInPoolsUsd: printUsdOrNull(market.worth(nativeId, pooled)),
      vrscPrice: price ? decimal(price.usd_price) : null,
      volume24h: printUsd((await trades.total(daysBefore(trades.end, 1))).volume),
      volume30d: printUsd(month.volume),
      volumeAllTime: printUsd(ever.volume),
      fees30d: printUsd(feesOf(month.volume)),
      trades30d: month.trades,
      tradesAllTime: ever.trades,
      ...provisionalMembers(rows.provisionalSince(trades.end)),
    };
  },
});

const SHOWN = 10;
const HISTORY_DAYS = 30;

const overview = stateRoute({
  path: '/api/market/overview',
  summary: 'Top movers, top baskets and the volume of 30 days',
  parameters: {},
  response: marketOverview,
  weight: 1,
  cache: 'prepared',
  scope: 'all',
  async handler({ read, api }) {
    const market = await readMarket(read, api);
    const rows = await pricedRows(read, api);
    const trades = await readTrades(read, api, rows);
    const past = await pricesAt(api, rows, [...market.prices.keys()], daysBefore(trades.end, 1));
    const movers = [...market.prices.values()]
      .map((row) => ({
        name: market.currencies.name(row.currency_id) ?? row.currency_id,
        currencyId: row.currency_id,
        price: decimal(row.usd_price),
        change24h: changePercent(row.usd_price, past.get(row.currency_id)),
      }))
      .sort((a, b) => Math.abs(b.change24h ?? 0) - Math.abs(a.change24h ?? 0));
    const volumes = await trades.byBasket(daysBeforeEach(trades, 1));
    return {
      topMovers: movers.slice(0, SHOWN),
      topBaskets: largestBaskets(market)
        .slice(0, SHOWN)
        .map(({ basket: { name, currencyId, chain }, tvl }) => ({
          name,
          currencyId,
          chain,
          tvl: printUsd(tvl),
          volume24h: printUsd((volumes.get(currencyId) ?? NO_VOLUME).volume),
        })),
      volumeHistory: await volumeSeries(trades, 'day', HISTORY_DAYS, trades.end),
      ...provisionalMembers(rows.provisionalSince(trades.end)),
      marks: marksIn(api, daysBefore(trades.end, HISTORY_DAYS), trades.end + 1),
    };
  },
});

const pools = stateRoute({
  path: '/api/market/vrsc-pools',
  summary: 'Baskets that hold the native coin of the default chain',
  parameters: formatParameter,
  response: nativePools,
  rows: { member: 'pools' },
  weight: 1,
  cache: 'prepared',
  scope: 'all',
  async handler({ read, api }) {
    const market = await readMarket(read, api);
    const rows = await pricedRows(read, api);
    const nativeId = defaultNative(api);
    const holdings = nativeHoldings(market, nativeId);
    const total = holdings.reduce((sum, { amount }) => sum + amount, 0n);
    return {
      total: coins(total),
      totalUsd: printUsdOrNull(market.worth(nativeId, total)),
      pools: holdings.map(({ basket, amount }) => ({
        basket: basket.name,
        basketId: basket.currencyId,
        chain: basket.chain,
        amount: coins(amount),
        usdValue: printUsdOrNull(market.worth(nativeId, amount)),
        share: total > 0n ? Number(amount) / Number(total) : 0,
      })),
      ...provisionalMembers(rows.provisionalSince(Number.POSITIVE_INFINITY)),
    };
  },
});

export const marketSummaryRoutes = [protocol, overview, pools];
