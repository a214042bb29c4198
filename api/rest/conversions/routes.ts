/** /api/conversions */

import { CONVERSION_STATUSES, CONVERSION_TYPES } from '../../../domain/transfers.ts';
import type { ApiContext } from '../../api-context.ts';
import { listRoute } from '../../http/list-route.ts';
import type { PageBounds } from '../../http/list-source.ts';
import { chainParameter, type ParameterValues, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { addressParameter, resolveAddress } from '../../state/addresses.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { type ClosedConversions, closedConversions, findClosed } from './closed-conversions.ts';
import { countConversions } from './conversion-count.ts';
import { armsOf, type ConversionFilter, conversionFilter, filterParameters } from './conversion-filters.ts';
import { type ConversionRecord, conversionAnswer, conversionsSql, readConversion } from './conversion-rows.ts';
import { conversionFilters, conversionRow } from './schema.ts';
import { amongConfigured, TRANSFER_KEY, TRANSFER_KEYS } from './transfer-ends.ts';

type Filters = ParameterValues<typeof filterParameters> & { readonly chain: string };

async function select(read: Snapshot, api: ApiContext, params: Filters, address: string | null) {
  const { chain } = params;
  const tip = tipHeight(read, chain);
  const currencies = await api.currencies.of(read);
  const { generation } = read.state;
  const filter = conversionFilter({ chain, generation, filters: params, address }, currencies, api);
  const { inClickHouse, order } = filter;
  const closed = inClickHouse && (await closedConversions(read, api, chain, inClickHouse));
  return {
    list: `conversions${address === null ? '' : ` ${address}`}${order === 'newest' ? '' : ` ${order}`}`,
    key: TRANSFER_KEYS[order],
    pinned: order === 'largest' ? { height: tip, generation } : undefined,
    sql: filter.isPlain
      ? amongConfigured(read.state, `${conversionsSql()} AND ${filter.conditions}`)
      : async (bounds: PageBounds) => amongConfigured(read.state, await gather(api, filter, closed, bounds)),
    values: filter.values,
    isOpenEnded: filter.values.length > 2,
    total: () => countConversions(read, api, filter, closed),
    show: (rows: readonly ConversionRecord[]) => rows.map((row) => conversionAnswer(row, read, currencies)),
  };
}

/** One page from each arm and one from ClickHouse together contain the page of the whole list. */
async function gather(
  api: ApiContext,
  filter: ConversionFilter,
  closed: ClosedConversions | null,
  { sql, given, ...bounds }: PageBounds,
): Promise<string> {
  const arms = armsOf(filter, closed).map((arm) => `(${arm}${sql})`);
  if (closed) {
    const keys = await findClosed(api, closed, bounds);
    const [txids, vouts] = [given(keys.map(({ txid }) => txid)), given(keys.map(({ vout }) => vout))];
    arms.push(`(SELECT t.* FROM unnest(${txids}::text[], ${vouts}::integer[]) AS found(txid, vout)
      JOIN transfers t ON t.chain = $2 AND t.txid = decode(found.txid, 'hex') AND t.vout = found.vout AND t.to_height IS NULL)`);
  }
  return conversionsSql({ rows: `(${arms.join(' UNION ALL ')})` });
}

const conversions = { row: conversionRow, reader: readConversion, key: TRANSFER_KEY, scope: 'all' } as const;

const list = listRoute({
  ...conversions,
  path: '/api/conversions/',
  summary: 'Conversions with their USD values',
  parameters: {
    chain: chainParameter,
    address: queryParameter('Source or destination', writtenName),
    ...filterParameters,
  },
  select({ params, read, api }) {
    const { address, chain } = params;
    const resolved = address === undefined ? null : resolveAddress(api.chain(chain), address, 'address');
    return select(read, api, params, resolved);
  },
});

const ofAddress = listRoute({
  ...conversions,
  path: '/api/address/:addr/conversions',
  summary: 'Conversions that an address sent or received',
  parameters: { addr: addressParameter, chain: chainParameter, ...filterParameters },
  select({ params, read, api }) {
    return select(read, api, params, resolveAddress(api.chain(params.chain), params.addr));
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
  summary: 'Possible values of the filters of conversions',
  parameters: {},
  response: conversionFilters,
  weight: 2,
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
