/** /api/oracle/prices */

import { readPriceEntries } from '../../../infra/stored-json/prices.ts';
import type { ApiContext } from '../../api-context.ts';
import { notFound, parameterError } from '../../http/api-error.ts';
import { formatParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { decimal, decimalOrNull } from '../../http/values.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import { findCurrency } from '../../state/find-currency.ts';
import { pricedRows } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { idParameter, newestPrices } from './history-routes.ts';
import {
  defaultChain,
  type GuardView,
  type LatestPrice,
  latestPrices,
  type PriceRecord,
  priceAnswer,
  priceTip,
} from './price-rows.ts';
import { asOf, asOfParameters, type MomentQuery, pricesAsOf } from './prices-as-of.ts';
import { oracleDetail, oraclePrices } from './schema.ts';

const list = stateRoute({
  path: '/api/oracle/prices',
  summary: 'USD price of every currency with enough depth behind it, deepest first: now, or as of a block or a time',
  parameters: {
    ...asOfParameters,
    ids: queryParameter(
      'Only these currencies, whatever their depth, in this order: names or i-addresses, separated by commas, at most 100',
      { type: 'string', minLength: 1, maxLength: 3_500 },
    ),
    ...formatParameter,
  },
  response: oraclePrices,
  rows: { member: null },
  weight: 1,
  cache: 'prepared',
  scope: 'all',
  async handler({ params, read, api }) {
    const currencies = await api.currencies.of(read);
    const wanted = params.ids === undefined ? null : idsOf(params.ids, currencies, api);
    const ids = wanted ?? [...currencies.all()].map((entry) => entry.currencyId);
    const { rows, tip } = await pricesThen(read, api, params, ids);
    const shown = wanted ? inOrderOf(rows, wanted) : deepestFirst(rows, api.config.minListedDepthUsd);
    return shown.map((row) => ({
      currencyId: row.currency_id,
      currencyName: currencies.name(row.currency_id),
      ...priceAnswer(read, api, row, currencies, tip),
    }));
  },
});

/** Prices of the currencies now or as of the requested moment, and the newest block of the default chain at that moment. */
async function pricesThen(read: Snapshot, api: ApiContext, asked: MomentQuery, ids: readonly string[]) {
  const priced = await pricedRows(read, api);
  const then = await asOf(read, api, priced, asked);
  if (then === null) return { rows: await latestPrices(read, api, ids), tip: priceTip(read, api) };
  return { rows: await pricesAsOf(read, api, priced, then, ids), tip: then.height };
}

const MOST_IDS = 100;

/** @throws ApiError invalid_parameter, not_found */
function idsOf(text: string, currencies: Currencies, api: ApiContext): string[] {
  const written = text.split(',');
  if (written.length > MOST_IDS) {
    const detail = `ids names ${written.length} currencies: at most ${MOST_IDS} are allowed`;
    throw parameterError('ids', detail);
  }
  const ids = written.map((name) => findCurrency(currencies, api, defaultChain(api), name.trim(), 'ids').currencyId);
  return [...new Set(ids)];
}

function inOrderOf(rows: readonly LatestPrice[], ids: readonly string[]): LatestPrice[] {
  const found = new Map(rows.map((row) => [row.currency_id, row]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

function deepestFirst(rows: readonly LatestPrice[], minDepth: number): LatestPrice[] {
  const depths = new Map(rows.map((row) => [row.currency_id, Number(row.total_depth)]));
  const depth = (row: PriceRecord) => depths.get(row.currency_id) ?? 0;
  return rows
    .filter((row) => depth(row) >= minDepth)
    .sort((a, b) => depth(b) - depth(a) || (a.currency_id < b.currency_id ? -1 : 1));
}

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
  const entries = readPriceEntries(row.baskets);
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
  summary: 'Price of a currency with the baskets that it is computed from: now, or as of a block or a time',
  parameters: { id: idParameter, ...asOfParameters },
  response: oracleDetail,
  weight: 1,
  cache: 'prepared',
  scope: 'all',
  async handler({ params, read, api }) {
    const currencies = await api.currencies.of(read);
    const isNow = params.height === undefined && params.time === undefined;
    const { currencyId, fullyQualifiedName } = findCurrency(currencies, api, defaultChain(api), params.id, 'id');
    const {
      rows: [row],
      tip,
    } = await pricesThen(read, api, params, [currencyId]);
    if (!row) throw notFound(`a price of ${fullyQualifiedName}`);
    return {
      currencyId,
      currencyName: fullyQualifiedName,
      currentPrice: priceAnswer(read, api, row, currencies, tip),
      liveCalculation: liveCalculation(row.derived, currencies),
      guardRail: guardRail(row.guard),
      priceHistory: await newestPrices(read, api, currencies, currencyId, {
        rows: SNAPSHOTS,
        to: isNow ? undefined : tip,
      }),
    };
  },
});

export const oraclePriceRoutes = [list, detail];
