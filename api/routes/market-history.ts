/** /api/market/baskets/:id/reserves and /api/market/prices/:name/history */
import { priceSeries, reserveSeries } from '../../schemas/rest/market.ts';
import { notFound } from '../http/api-error.ts';
import { chainParameter, pathParameter, queryParameter } from '../http/parameters.ts';
import { stateRoute } from '../http/route.ts';
import { coins, decimal, isoTime } from '../http/values.ts';
import { printUsdOrNull } from '../market/usd.ts';
import { daysBefore } from '../market/volume-series.ts';
import { committedTick } from './committed-tick.ts';
import { findCurrency } from './currencies.ts';
import { basketParameter } from './market-volume.ts';
import { defaultChain } from './price-rows.ts';

const MAX_POINTS = 200;

/** Thinned evenly from the newest backwards; the prices are those of the moment that a window ends. */
const RESERVES_SQL = `WITH points AS (
    SELECT * FROM (
      SELECT window, state_height, supply, reserve_ids, reserves,
        row_number() OVER (ORDER BY window DESC) - 1 AS back, count() OVER () AS total
      FROM reserve_snapshots WHERE chain = {chain: String} AND currency_id = {id: String}
        AND position <= {position: UInt64} AND window >= fromUnixTimestamp({since: UInt32})
    ) WHERE back % greatest(1, toUInt64(ceil(total / ${MAX_POINTS}))) = 0
  )
  SELECT toUnixTimestamp(s.window) AS time, any(s.state_height) AS height, toString(any(s.supply)) AS supply,
    toString(sum(s.amount * p.usd_price)) AS tvl, groupArray(s.id) AS ids,
    groupArray(toString(s.amount)) AS amounts
  FROM (SELECT window, state_height, supply, id, amount, window + 300 AS until FROM points
    ARRAY JOIN reserve_ids AS id, reserves AS amount) AS s
  ASOF LEFT JOIN (SELECT currency_id, time, usd_price FROM prices
    WHERE generation = {generation: UInt32} AND tick <= {tick: UInt64}) AS p
    ON s.id = p.currency_id AND s.until >= p.time
  GROUP BY s.window ORDER BY s.window`;

interface PointRecord {
  readonly time: number;
  readonly height: number;
  readonly supply: string;
  readonly tvl: string;
  readonly ids: readonly string[];
  readonly amounts: readonly string[];
}

/** Satoshis times prices of 30 decimals: its digits are USD scaled by 10^38. */
function tvlOf(text: string): bigint | null {
  const [whole = '0', fraction = ''] = text.split('.');
  const value = BigInt(whole + fraction.padEnd(30, '0'));
  return value === 0n ? null : value;
}

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
    const basket = findCurrency(currencies, api, params.chain, params.id, 'id');
    if (basket.type !== 'basket') throw notFound(`a basket named ${JSON.stringify(params.id)}`);
    const at = read.state.derived.get(basket.chain);
    const rows = await api.clickhouse.query<PointRecord>(RESERVES_SQL, {
      chain: basket.chain,
      id: basket.currencyId,
      position: at?.position ?? 0,
      since: Math.max(0, daysBefore(at?.clock ?? 0, params.days)),
      generation: read.state.generation,
      tick: await committedTick(read),
    });
    return {
      basket: basket.fullyQualifiedName,
      basketId: basket.currencyId,
      days: params.days,
      data: rows.map((row) => ({
        time: isoTime(row.time),
        height: row.height,
        supply: coins(BigInt(row.supply)),
        tvl: printUsdOrNull(tvlOf(row.tvl)),
        reserves: Object.fromEntries(row.ids.map((id, index) => [id, coins(BigInt(row.amounts[index] ?? '0'))])),
      })),
    };
  },
});

/** The last price of each of about 500 spans, at the time of its block. */
const PRICES_SQL = `SELECT toUnixTimestamp(argMax(time, tick)) AS seconds, toString(argMax(usd_price, tick)) AS price
  FROM prices WHERE generation = {generation: UInt32} AND currency_id = {id: String} AND tick <= {tick: UInt64}
    AND time > fromUnixTimestamp({since: UInt32})
  GROUP BY intDiv(toUnixTimestamp(time), {span: UInt32}) ORDER BY seconds`;
const PRICE_POINTS = 500;
const SECONDS_PER_DAY = 86_400;
const LEAST_SPAN = 300;

const prices = stateRoute({
  path: '/api/market/prices/:name/history',
  summary: 'USD price of a currency over time',
  parameters: {
    name: pathParameter('Currency: name or i-address', { type: 'string', minLength: 1, maxLength: 500 }),
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
    const rows = await api.clickhouse.query<{ seconds: number; price: string }>(PRICES_SQL, {
      generation: read.state.generation,
      id: currency.currencyId,
      tick: await committedTick(read),
      since: Math.max(0, daysBefore(end, params.days)),
      span: Math.max(LEAST_SPAN, Math.ceil((params.days * SECONDS_PER_DAY) / PRICE_POINTS)),
    });
    return {
      currencyId: currency.currencyId,
      name: currency.fullyQualifiedName,
      days: params.days,
      data: rows.map(({ seconds, price }) => ({ time: seconds, price: decimal(price) })),
    };
  },
});

export const marketHistoryRoutes = [reserves, prices];
