/** /api/conversions */
import {
  CONVERSION_STATUSES,
  CONVERSION_TYPES,
  conversionFilters,
  conversionList,
} from '../../schemas/rest/conversions.ts';
import type { ApiContext } from '../api-context.ts';
import { countRows, countRowsByHeight } from '../http/count-rows.ts';
import { pageParameters, readPage } from '../http/paging.ts';
import { chainParameter, type ParameterValues, queryParameter } from '../http/parameters.ts';
import { stateRoute } from '../http/route.ts';
import { resolveAddress } from '../state/addresses.ts';
import type { Currencies } from '../state/currency-directory.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { addressParameter } from './addresses.ts';
import { tipHeight } from './blocks.ts';
import { type ConversionRecord, CURRENT_CONVERSIONS, conversionAnswer, conversionsSql } from './conversion-rows.ts';
import { findCurrency } from './currencies.ts';
import { parseTime, TIME } from './time-parameter.ts';
import { STATUS_SQL } from './transfer-ends.ts';

const name = { type: 'string', minLength: 1, maxLength: 500 } as const;
const usd = { type: 'number', minimum: 0 } as const;

const filterParameters = {
  from: queryParameter('From currency: name or i-address', name),
  to: queryParameter('To currency: name or i-address', name),
  basket: queryParameter('Basket that executes it: name or i-address', name),
  status: queryParameter('Status', { type: 'string', enum: CONVERSION_STATUSES }),
  type: queryParameter('Type', { type: 'string', enum: CONVERSION_TYPES }),
  minUsd: queryParameter('Least USD value', usd),
  maxUsd: queryParameter('Greatest USD value', usd),
  fromTime: queryParameter('Requested at or after: ISO 8601 or seconds since the epoch', TIME),
  toTime: queryParameter('Requested before: ISO 8601 or seconds since the epoch', TIME),
  sort: queryParameter('Order by the request', { type: 'string', enum: ['newest'], default: 'newest' }),
};

type Filters = ParameterValues<typeof filterParameters>;

/** Adds a condition with one value to a statement under construction. */
interface Conditions {
  readonly sql: string[];
  readonly values: unknown[];
  /** Whether one of them looks beyond the row itself: at its stamp, or at its other end. */
  joined: boolean;
}

function add(conditions: Conditions, sql: (place: string) => string, value: unknown): void {
  conditions.values.push(value);
  conditions.sql.push(sql(`$${conditions.values.length}`));
}

const STORED_STATUSES = { pending: ['pending', 'exported'] } as const;

const CURRENCY_COLUMNS = {
  from: 't.from_currency_id',
  to: 't.to_currency_id',
  basket: 't.import_currency_id',
} as const;

function filter(conditions: Conditions, filters: Filters, idOf: (text: string, parameter: string) => string): void {
  const { status, type, minUsd, maxUsd, fromTime, toTime } = filters;
  for (const name of ['from', 'to', 'basket'] as const) {
    const text = filters[name];
    if (text !== undefined) add(conditions, (at) => `${CURRENCY_COLUMNS[name]} = ${at}`, idOf(text, name));
  }
  if (status !== undefined) {
    const stored = status === 'pending' ? STORED_STATUSES.pending : [status];
    // The row alone settles most, before its other end is looked up.
    add(
      conditions,
      (at) => `(t.import_system_id IS NOT NULL OR t.status = ANY(${at})) AND ${STATUS_SQL} = ANY(${at})`,
      stored,
    );
  }
  conditions.joined = status !== undefined || minUsd !== undefined || maxUsd !== undefined;
  if (type !== undefined) add(conditions, (at) => `t.kind = ${at}`, type);
  if (minUsd !== undefined) add(conditions, (at) => `s.usd_value >= ${at}`, minUsd);
  if (maxUsd !== undefined) add(conditions, (at) => `s.usd_value <= ${at}`, maxUsd);
  if (fromTime !== undefined) add(conditions, (at) => `t.request_time >= ${at}`, parseTime(fromTime, 'fromTime'));
  if (toTime !== undefined) add(conditions, (at) => `t.request_time < ${at}`, parseTime(toTime, 'toTime'));
}

/** Of the rows alone where no condition looks beyond them: what they were asked for as does not change any more. */
function countConversions(
  read: Snapshot,
  api: ApiContext,
  chain: string,
  { sql, values, joined }: Conditions,
): Promise<number> {
  if (joined) {
    const rows = `(${[conversionsSql(), ...sql].join(' AND ')}) AS matching`;
    return countRows(read, api, null, { rows, values, isOpenEnded: true });
  }
  // The generation is not looked at.
  const rows = `transfers t WHERE ${[CURRENT_CONVERSIONS, '$1::integer IS NOT NULL', ...sql].join(' AND ')}`;
  return countRowsByHeight(read, api, chain, 't.request_height', { rows, values, isOpenEnded: true });
}

async function conversionPage(
  read: Snapshot,
  api: ApiContext,
  params: Filters & ParameterValues<typeof pageParameters> & { readonly chain: string },
  address: string | null,
) {
  const { chain } = params;
  tipHeight(read, chain);
  const currencies = await api.currencies.of(read);
  const conditions: Conditions = { sql: ['t.chain = $2'], values: [read.state.generation, chain], joined: false };
  if (address !== null) add(conditions, (at) => `(t.source = ${at} OR t.destination = ${at})`, address);
  filter(conditions, params, (text, name) => findCurrency(currencies, api, chain, text, name).currencyId);
  return readPage<ConversionRecord>(read, params, {
    list: address === null ? 'conversions' : `conversions ${address}`,
    chain,
    sql: [conversionsSql(), ...conditions.sql].join(' AND '),
    values: conditions.values,
    isOpenEnded: conditions.sql.length > 1,
    key: [
      { column: 'request_height', sql: 't.request_height', kind: 'integer', order: 'DESC' },
      { column: 'txid', sql: 't.txid', kind: 'hex', order: 'ASC' },
      { column: 'vout', sql: 't.vout', kind: 'integer', order: 'ASC' },
    ],
    total: () => countConversions(read, api, chain, conditions),
    row: (row) => conversionAnswer(row, currencies),
  });
}

const list = stateRoute({
  path: '/api/conversions/',
  summary: 'Conversions with their USD values',
  parameters: {
    chain: chainParameter,
    address: queryParameter('Source or destination', name),
    ...filterParameters,
    ...pageParameters,
  },
  response: conversionList,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'all',
  handler({ params, read, api }) {
    const { address, chain } = params;
    const resolved = address === undefined ? null : resolveAddress(api, api.chain(chain), address, 'address');
    return conversionPage(read, api, params, resolved);
  },
});

const ofAddress = stateRoute({
  path: '/api/address/:addr/conversions',
  summary: 'Conversions that an address sent or received',
  parameters: { addr: addressParameter, chain: chainParameter, ...filterParameters, ...pageParameters },
  response: conversionList,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'all',
  handler({ params, read, api }) {
    return conversionPage(read, api, params, resolveAddress(api, api.chain(params.chain), params.addr));
  },
});

function choices(currencies: Currencies, api: ApiContext, baskets: boolean) {
  return [...currencies.all()]
    .filter((entry) => !baskets || entry.type === 'basket')
    .map(({ currencyId, fullyQualifiedName, chain }) => ({ currencyId, name: fullyQualifiedName, chain }))
    .filter(({ chain }) => api.config.chains.some((configured) => configured.name === chain));
}

const filters = stateRoute({
  path: '/api/conversions/filters',
  summary: 'What conversions can be filtered by',
  parameters: {},
  response: conversionFilters,
  weight: 2,
  tier: null,
  cache: 'prepared',
  scope: 'all',
  async handler({ read, api }) {
    const currencies = await api.currencies.of(read);
    return {
      chains: api.config.chains.map((chain) => chain.name),
      currencies: choices(currencies, api, false),
      baskets: choices(currencies, api, true),
      statuses: CONVERSION_STATUSES,
      types: CONVERSION_TYPES,
    };
  },
});

export const conversionRoutes = [list, filters, ofAddress];
