/** /api/market/baskets/:id/reserves and /api/market/prices/:name/history */
import { SECONDS_PER_DAY } from '../../../domain/time.ts';
import { chainParameter, pathParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins, decimal, isoTime } from '../../http/values.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { marksIn } from '../../state/marks.ts';
import { type PricedRows, pricedRows, provisionalMembers } from '../../state/priced-rows.ts';
import { findBasket, findCurrency } from '../currencies/routes.ts';
import { defaultChain } from '../prices/price-rows.ts';
import { printUsdOrNull } from '../prices/usd.ts';
import { reservePoints } from './reserve-points.ts';
import { priceSeries, reserveSeries } from './schema.ts';
import { basketParameter } from './volume-routes.ts';
import { daysBefore } from './volume-series.ts';

const reserves = stateRoute({
  path: '/api/market/baskets/:id/reserves',
  summary: 'What a basket held over time, at most 200 points',
  parameters: {
    id: basketParameter,
    chain: chainParameter,
    days: queryParameter('Days back from the newest block', { type: 'integer', minimum: 1, maximum: 3650, default: 7 }),
  },
  response: reserveSeries,
  weight: 2,
  tier: null,
  cache: 'prepared',
  scope: 'all',
  async handler({ params, read, api }) {
    const currencies = await api.currencies.of(read);
    const basket = findBasket(currencies, api, params.chain, params.id);
    const end = read.state.derived.get(basket.chain)?.clock ?? 0;
    const rows = await pricedRows(read, api);
    const since = Math.max(0, daysBefore(end, params.days));
    const points = await reservePoints(read, api, rows, basket, since);
    return {
      basket: basket.fullyQualifiedName,
      basketId: basket.currencyId,
      days: params.days,
      ...provisionalMembers(rows.provisionalSince(end)),
      marks: marksIn(api, since, end + 1, basket.chain),
      data: points.map(({ time, height, supply, tvl, reserves }) => ({
        time: isoTime(time),
        height,
        supply: coins(supply),
        tvl: printUsdOrNull(tvl),
        reserves: Object.fromEntries(reserves.map(([id, amount]) => [id, coins(amount)])),
      })),
    };
  },
});

/** The last price of each of about 500 spans, at the time of its block. */
const pricesSql = (
  rows: PricedRows,
) => `SELECT toUnixTimestamp(argMax(time, tick)) AS seconds, toString(argMax(usd_price, tick)) AS price
  FROM ${rows.of('prices', 'time, usd_price, tick', 'currency_id = {id: String} AND tick >= {from: UInt64} AND time > fromUnixTimestamp({since: UInt32})')}
  GROUP BY intDiv(toUnixTimestamp(time), {span: UInt32}) ORDER BY seconds`;
const PRICE_POINTS = 500;
const LEAST_SPAN = 300;

const prices = stateRoute({
  path: '/api/market/prices/:name/history',
  summary: 'USD price of a currency over time',
  parameters: {
    name: pathParameter('Currency: name or i-address', writtenName),
    days: queryParameter('Days back from the newest block', { type: 'integer', minimum: 1, maximum: 365, default: 30 }),
  },
  response: priceSeries,
  weight: 2,
  tier: null,
  cache: 'prepared',
  scope: 'all',
  async handler({ params, read, api }) {
    const currencies = await api.currencies.of(read);
    const currency = findCurrency(currencies, api, defaultChain(api), params.name, 'name');
    const end = Math.max(0, ...[...read.state.derived.values()].map(({ clock }) => clock));
    const since = Math.max(0, daysBefore(end, params.days));
    const rows = await pricedRows(read, api);
    const points = await api.clickhouse.query<{ seconds: number; price: string }>(pricesSql(rows), {
      ...rows.params,
      id: currency.currencyId,
      from: (await rows.tickAt(since)) ?? '0',
      since,
      span: Math.max(LEAST_SPAN, Math.ceil((params.days * SECONDS_PER_DAY) / PRICE_POINTS)),
    });
    return {
      currencyId: currency.currencyId,
      name: currency.fullyQualifiedName,
      days: params.days,
      ...provisionalMembers(rows.provisionalSince(end)),
      marks: marksIn(api, since, end + 1),
      data: points.map(({ seconds, price }) => ({ time: seconds, price: decimal(price) })),
    };
  },
});

export const marketHistoryRoutes = [reserves, prices];
