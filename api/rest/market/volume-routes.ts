/** /api/market/volume and /api/market/baskets/:id/volume */

import { chainParameter, formatParameter, pathParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { findBasket } from '../../state/find-currency.ts';
import { marksHeader, marksIn } from '../../state/marks.ts';
import { PROVISIONAL_SINCE, pricedRows, provisionalList } from '../../state/priced-rows.ts';
import { volumeSeries as volumeSchema } from './schema.ts';
import { readTrades, type Unit } from './trades.ts';
import { periods, volumeSeries } from './volume-series.ts';

const PERIODS = ['daily', 'weekly', 'monthly'] as const;
const SHOWN: Readonly<Record<(typeof PERIODS)[number], readonly [Unit, number]>> = {
  daily: ['day', 30],
  weekly: ['week', 12],
  monthly: ['month', 12],
};

const volume = stateRoute({
  path: '/api/market/volume',
  summary: 'Trade volume in USD by day, week or month',
  parameters: {
    period: queryParameter('30 days, 12 weeks or 12 months', {
      type: 'string',
      enum: PERIODS,
      default: 'daily',
    }),
    ...formatParameter,
  },
  response: volumeSchema,
  headers: [PROVISIONAL_SINCE, 'Marks'],
  rows: { member: null },
  weight: 1,
  cache: 'prepared',
  scope: 'all',
  async handler({ params, read, api }) {
    const [unit, count] = SHOWN[params.period];
    const rows = await pricedRows(read, api);
    const trades = await readTrades(read, api, rows);
    const series = await volumeSeries(trades, unit, count, trades.end);
    const marks = marksIn(api, periods(unit, trades.end, count)[0] ?? 0, trades.end + 1);
    return provisionalList(rows.provisionalSince(trades.end), series, marksHeader(marks));
  },
});

export const basketParameter = pathParameter('Basket: name or i-address', writtenName);

const ofBasket = stateRoute({
  path: '/api/market/baskets/:id/volume',
  summary: 'Daily trade volume through a basket',
  parameters: {
    id: basketParameter,
    chain: chainParameter,
    days: queryParameter('UTC days', { type: 'integer', minimum: 1, maximum: 365, default: 30 }),
    ...formatParameter,
  },
  response: volumeSchema,
  headers: [PROVISIONAL_SINCE, 'Marks'],
  rows: { member: null },
  weight: 2,
  cache: 'prepared',
  scope: 'all',
  async handler({ params, read, api }) {
    const currencies = await api.currencies.of(read);
    const { currencyId, chain } = findBasket(currencies, api, params.chain, params.id);
    const rows = await pricedRows(read, api);
    const trades = await readTrades(read, api, rows);
    const end = trades.ends.get(chain) ?? 0;
    const series = await volumeSeries(trades, 'day', params.days, end, currencyId);
    const marks = marksIn(api, periods('day', end, params.days)[0] ?? 0, end + 1, chain);
    return provisionalList(rows.provisionalSince(end, chain), series, marksHeader(marks));
  },
});

export const marketVolumeRoutes = [volume, ofBasket];
