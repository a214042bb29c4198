/** /api/oracle/prices */

import { notFound } from '../../http/api-error.ts';
import { stateRoute } from '../../http/route.ts';
import { decimal, decimalOrNull } from '../../http/values.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import { findCurrency } from '../currencies/routes.ts';
import { idParameter, newestPrices } from './history-routes.ts';
import { defaultChain, entriesOf, type GuardView, latestPrices, type PriceRecord, priceAnswer } from './price-rows.ts';
import { oracleDetail, oraclePrices } from './schema.ts';

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
    const depths = new Map(rows.map((row) => [row.currency_id, Number(row.total_depth)]));
    const depth = (row: PriceRecord) => depths.get(row.currency_id) ?? 0;
    return rows
      .filter((row) => depth(row) >= api.config.minListedDepthUsd)
      .sort((a, b) => depth(b) - depth(a) || (a.currency_id < b.currency_id ? -1 : 1))
      .map((row) => ({
        currencyId: row.currency_id,
        currencyName: currencies.name(row.currency_id),
        ...priceAnswer(read, api, row, currencies),
      }));
  },
});

const SNAPSHOTS = 50;

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
    return {
      currencyId,
      currencyName: fullyQualifiedName,
      currentPrice: priceAnswer(read, api, row, currencies),
      liveCalculation: liveCalculation(row.derived, currencies),
      guardRail: guardRail(row.guard),
      priceHistory: await newestPrices(read, api, currencies, currencyId, SNAPSHOTS),
    };
  },
});

export const oraclePriceRoutes = [list, detail];
