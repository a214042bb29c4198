/** /api/market/baskets/:id/reserves and /api/market/prices/:name/history */
import { priceStatus } from '../../../domain/confidence.ts';
import { SECONDS_PER_DAY } from '../../../domain/time.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { chainParameter, formatParameter, pathParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { printUsdOrNull } from '../../http/usd.ts';
import { coins, decimal } from '../../http/values.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { findBasket, findCurrency } from '../../state/find-currency.ts';
import { marksIn } from '../../state/marks.ts';
import { type PricedRows, pricedRows, provisionalMembers } from '../../state/priced-rows.ts';
import { confidenceOf, defaultChain, PRICE } from '../prices/price-rows.ts';
import { reservePoints } from './reserve-points.ts';
import { priceSeries, reserveSeries } from './schema.ts';
import { basketParameter } from './volume-routes.ts';
import { daysBefore } from './volume-series.ts';

const reserves = stateRoute({
  path: '/api/market/baskets/:id/reserves',
  summary: 'Supply and reserves of a basket over time, at most 200 points',
  parameters: {
    id: basketParameter,
    chain: chainParameter,
    days: queryParameter('Days back from the newest block', { type: 'integer', minimum: 1, maximum: 3650, default: 7 }),
    ...formatParameter,
  },
  response: reserveSeries,
  rows: { member: 'data' },
  weight: 2,
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
        time,
        height,
        supply: coins(supply),
        tvl: printUsdOrNull(tvl),
        reserves: Object.fromEntries(reserves.map(([id, amount]) => [id, coins(amount)])),
        usdValues: Object.fromEntries(reserves.map(([id, , worth]) => [id, printUsdOrNull(worth)])),
      })),
    };
  },
});

/**
 * The last price of each span, at the time of its block. Prices are computed at the blocks of the default chain, the parameter `chain`: a
 * price's age is the number of that chain's blocks between its newest computation and the end of the span.
 */
const pricesSql = (
  rows: PricedRows,
) => `SELECT seconds, found.last.1 AS usd_price, found.last.2 AS tier, found.last.3 AS total_depth,
    found.last.4 AS baskets, if(step = 0, 0, greatest(toInt64(tip) - step, 0)) AS age
  FROM (
    SELECT intDiv(toUnixTimestamp(time), {span: UInt32}) AS bucket, toUnixTimestamp(argMax(time, tick)) AS seconds,
      argMax((toString(usd_price), tier, toString(total_depth), baskets), tick) AS last, maxIf(height, chain = {chain: String}) AS step
    FROM ${rows.of('prices', 'time, usd_price, tier, total_depth, baskets, chain, height, tick', 'currency_id = {id: String} AND tick >= {from: UInt64} AND time > fromUnixTimestamp({since: UInt32})')}
    GROUP BY bucket
  ) AS found LEFT JOIN (
    SELECT intDiv(toUnixTimestamp(time), {span: UInt32}) AS bucket, max(height) AS tip FROM blocks
    WHERE chain = {chain: String} AND position <= {position: UInt64} AND time > fromUnixTimestamp({since: UInt32}) GROUP BY bucket
  ) AS tips USING (bucket) ORDER BY seconds`;
const PRICE_POINTS = 500;
const MOST_POINTS = 1000;
const LEAST_SPAN = 300;

const { usd_price, tier, total_depth, baskets } = PRICE;
const readPoint = rowReader({
  usd_price,
  tier,
  total_depth,
  baskets,
  seconds: columns.number,
  /** Blocks. */
  age: columns.text,
});

const prices = stateRoute({
  path: '/api/market/prices/:name/history',
  summary: 'USD price of a currency over time',
  parameters: {
    name: pathParameter('Currency: name or i-address', writtenName),
    days: queryParameter('Days back from the newest block', { type: 'integer', minimum: 1, maximum: 365, default: 30 }),
    points: queryParameter(
      'Most points; more than 1,000 is served as 1,000; each is the last price of a span of at least five minutes',
      {
        type: 'integer',
        minimum: 1,
        default: PRICE_POINTS,
      },
    ),
    ...formatParameter,
  },
  response: priceSeries,
  rows: { member: 'data' },
  weight: 2,
  cache: 'prepared',
  scope: 'all',
  async handler({ params, read, api }) {
    const currencies = await api.currencies.of(read);
    const currency = findCurrency(currencies, api, defaultChain(api), params.name, 'name');
    const end = Math.max(0, ...[...read.state.derived.values()].map(({ clock }) => clock));
    const since = Math.max(0, daysBefore(end, params.days));
    const rows = await pricedRows(read, api);
    const chain = defaultChain(api);
    // One more span may begin before the first day and be cut by it.
    const most = Math.min(params.points, MOST_POINTS);
    const spans = Math.max(1, most - 1);
    const points = await api.clickhouse.rows(readPoint, pricesSql(rows), {
      ...rows.params,
      chain,
      position: read.state.derived.get(chain)?.position ?? 0,
      id: currency.currencyId,
      from: (await rows.tickAt(since)) ?? '0',
      since,
      span: Math.max(LEAST_SPAN, Math.ceil((params.days * SECONDS_PER_DAY) / spans)),
    });
    return {
      currencyId: currency.currencyId,
      name: currency.fullyQualifiedName,
      days: params.days,
      ...provisionalMembers(rows.provisionalSince(end)),
      marks: marksIn(api, since, end + 1),
      data: points.slice(-most).map(({ seconds, age, ...row }) => ({
        time: seconds,
        price: decimal(row.usd_price),
        confidence: confidenceOf({ ...row, height: 0 }, Number(age)),
        depth: decimal(row.total_depth),
        status: priceStatus(Number(age), null),
      })),
    };
  },
});

export const marketHistoryRoutes = [reserves, prices];
