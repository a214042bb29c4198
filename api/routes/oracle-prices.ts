/** /api/oracle/prices */
import { oracleDetail, oracleHistory, oraclePrices } from '../../schemas/rest/oracle.ts';
import type { ApiContext } from '../api-context.ts';
import { ApiError, notFound } from '../http/api-error.ts';
import { pathParameter, queryParameter } from '../http/parameters.ts';
import { stateRoute } from '../http/route.ts';
import { decimal, decimalOrNull, isoTime } from '../http/values.ts';
import type { Currencies } from '../state/currency-directory.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { committedTick, tickAt } from './committed-tick.ts';
import { findCurrency } from './currencies.ts';
import {
  confidenceOf,
  defaultChain,
  entriesOf,
  type GuardView,
  latestPrices,
  type PriceRecord,
  priceAnswer,
  priceTip,
} from './price-rows.ts';

const list = stateRoute({
  path: '/api/oracle/prices',
  summary: 'USD price of every currency with enough depth behind it, deepest first',
  parameters: {},
  response: oraclePrices,
  weight: 1,
  tier: null,
  cache: 'prepared',
  scope: 'all',
  async handler({ read, api }) {
    const currencies = await api.currencies.of(read);
    const ids = [...currencies.all()].map((entry) => entry.currencyId);
    const rows = await latestPrices(read, api, ids);
    const tip = priceTip(read, api);
    const depths = new Map(rows.map((row) => [row.currency_id, Number(row.total_depth)]));
    const depth = (row: PriceRecord) => depths.get(row.currency_id) ?? 0;
    return rows
      .filter((row) => depth(row) >= api.config.minListedDepthUsd)
      .sort((a, b) => depth(b) - depth(a) || (a.currency_id < b.currency_id ? -1 : 1))
      .map((row) => ({
        currencyId: row.currency_id,
        currencyName: currencies.name(row.currency_id),
        ...priceAnswer(api, row, currencies, tip),
      }));
  },
});

const idParameter = pathParameter('i-address, qualified name, or name; of a bridged currency also without its suffix', {
  type: 'string',
  minLength: 1,
  maxLength: 500,
});

/** The blocks of the default chain make the steps of the averages; Postgres keeps the newest of them only. */
const HISTORY_SQL = `SELECT currency_id, tier, usd_price, ema_price, total_depth, nullIf(source_basket, '') AS source_basket,
    baskets, height, toUnixTimestamp(time) AS time
  FROM prices WHERE generation = {generation: UInt32} AND currency_id = {id: String}
    AND tick >= {first: UInt64} AND tick <= {tick: UInt64} AND chain = {chain: String} AND height BETWEEN {from: UInt32} AND {to: UInt32}
    AND time >= toDateTime({since: Int64}, 'UTC')
  ORDER BY prices.tick DESC LIMIT {limit: UInt32}`;
const SNAPSHOTS = 50;

interface HistoryWindow {
  readonly from: number;
  readonly to: number;
  /** Seconds since the epoch. */
  readonly since: number;
  readonly limit: number;
}

async function priceHistory(
  read: Snapshot,
  api: ApiContext,
  currencies: Currencies,
  currencyId: string,
  window: HistoryWindow,
) {
  const rows = await api.clickhouse.query<Omit<PriceRecord, 'time'> & { readonly time: number }>(HISTORY_SQL, {
    generation: read.state.generation,
    id: currencyId,
    first: (await tickAt(read, window.since)) ?? '0',
    tick: await committedTick(read),
    chain: defaultChain(api),
    ...window,
  });
  return rows.map((row) => ({
    usdPrice: decimal(row.usd_price),
    blockHeight: row.height,
    basket: currencies.name(row.source_basket) ?? row.source_basket,
    confidence: confidenceOf(api, row, row.height),
    createdAt: isoTime(row.time),
  }));
}

const MAX_HEIGHT = 2 ** 31 - 1;

function guardRail(guard: GuardView | null) {
  return {
    externalPrice: decimalOrNull(guard?.externalPrice ?? null),
    deviationPct: decimalOrNull(guard?.deviationPct ?? null),
    status: guard?.status ?? null,
    source: guard?.source ?? null,
    checkedAt: guard?.checkedAt == null ? null : new Date(guard.checkedAt).toISOString(),
  };
}

function liveCalculation(row: PriceRecord, currencies: Currencies) {
  const entries = entriesOf(row);
  const total = entries.reduce((sum, entry) => sum + Number(entry.depth), 0);
  return {
    weightedPrice: decimal(row.usd_price),
    baskets: entries.map((entry) => ({
      basket: currencies.name(entry.basketId),
      basketId: entry.basketId,
      chain: entry.chain,
      price: decimal(entry.price),
      depth: decimal(entry.depth),
      weight: total === 0 ? 0 : Number(entry.depth) / total,
    })),
  };
}

const detail = stateRoute({
  path: '/api/oracle/prices/:id',
  summary: 'Price of a currency with the baskets that it was made from',
  parameters: { id: idParameter },
  response: oracleDetail,
  weight: 1,
  tier: null,
  cache: 'prepared',
  scope: 'all',
  async handler({ params, read, api }) {
    const currencies = await api.currencies.of(read);
    const { currencyId, fullyQualifiedName } = findCurrency(currencies, api, defaultChain(api), params.id, 'id');
    const [row] = await latestPrices(read, api, [currencyId]);
    if (!row) throw notFound(`a price of ${fullyQualifiedName}`);
    const window = { from: 0, to: MAX_HEIGHT, since: 0, limit: SNAPSHOTS };
    return {
      currencyId,
      currencyName: fullyQualifiedName,
      currentPrice: priceAnswer(api, row, currencies, priceTip(read, api)),
      liveCalculation: liveCalculation(row.derived, currencies),
      guardRail: guardRail(row.guard),
      priceHistory: await priceHistory(read, api, currencies, currencyId, window),
    };
  },
});

const height = { type: 'integer', minimum: 0, maximum: MAX_HEIGHT } as const;
const MAX_ROWS = 1000;
const SECONDS_PER_HOUR = 3600;

const history = stateRoute({
  path: '/api/oracle/prices/:id/history',
  summary: 'Prices of a currency block by block, newest first',
  parameters: {
    id: idParameter,
    from: queryParameter('First block of the default chain', height),
    to: queryParameter('Last block of the default chain', height),
    hours: queryParameter('Hours before the newest priced block; only without from and to', {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
    }),
    limit: queryParameter('Rows; more than 1,000 is served as 1,000', { type: 'integer', minimum: 1, default: 200 }),
  },
  response: oracleHistory,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'all',
  async handler({ params, read, api }) {
    const currencies = await api.currencies.of(read);
    const { currencyId } = findCurrency(currencies, api, defaultChain(api), params.id, 'id');
    const ranged = params.from !== undefined || params.to !== undefined;
    if ((params.from ?? 0) > (params.to ?? MAX_HEIGHT)) {
      const detail = `from (${params.from}) is above to (${params.to})`;
      throw new ApiError('invalid_parameter', detail, { errors: [{ pointer: '/from', detail }] });
    }
    const end = read.state.priced.get(defaultChain(api))?.clock ?? 0;
    const data = await priceHistory(read, api, currencies, currencyId, {
      from: params.from ?? 0,
      to: params.to ?? MAX_HEIGHT,
      since: params.hours === undefined || ranged ? 0 : end - params.hours * SECONDS_PER_HOUR,
      limit: Math.min(params.limit, MAX_ROWS),
    });
    return { currencyId, count: data.length, data };
  },
});

export const oraclePriceRoutes = [list, detail, history];
