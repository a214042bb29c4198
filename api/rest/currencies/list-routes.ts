/** /api/currency/: the currencies that a chain knows. */
import { LAUNCH_STATUSES, type LaunchStatus, launchStatusSql } from '../../../domain/launch.ts';
import { CURRENCY_TYPES, type CurrencyType } from '../../../schemas/facts.ts';
import { countRows } from '../../http/count-rows.ts';
import { pageParameters, readPage } from '../../http/paging.ts';
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coinsOrNull } from '../../http/values.ts';
import { tipHeight } from '../blocks/routes.ts';
import { currencyList } from './schema.ts';

interface ListedCurrency {
  readonly currency_id: string;
  readonly from_height: number;
  readonly name: string;
  readonly fully_qualified_name: string;
  readonly parent: string | null;
  readonly system_id: string;
  readonly currency_type: CurrencyType;
  readonly options: number;
  readonly start_block: number;
  readonly txid: string;
  readonly supply: bigint | null;
  readonly launch: LaunchStatus;
}

const FROM = `currencies c LEFT JOIN LATERAL (SELECT flags, supply FROM currency_states
  WHERE chain = c.chain AND currency_id = c.currency_id AND to_height IS NULL LIMIT 1) AS state ON true
  WHERE c.chain = $1 AND c.to_height IS NULL`;
const LAUNCH = launchStatusSql('state.flags');
const COLUMNS = `c.currency_id, c.from_height, c.name, c.fully_qualified_name, c.parent, c.system_id, c.currency_type, c.options,
  c.start_block, c.txid, state.supply, ${LAUNCH} AS launch`;

const list = stateRoute({
  path: '/api/currency/',
  summary: 'Currencies that are defined on a chain, newest definition first; the own coin of a chain often is not',
  parameters: {
    chain: chainParameter,
    type: queryParameter('Only currencies of this type', { type: 'string', enum: CURRENCY_TYPES }),
    launch: queryParameter('Only those whose launch is so far', { type: 'string', enum: LAUNCH_STATUSES }),
    ...pageParameters,
  },
  response: currencyList,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain, type, launch } = params;
    tipHeight(read, chain);
    const currencies = await api.currencies.of(read);
    const values: unknown[] = [chain];
    const ofType = type === undefined ? '' : ` AND c.currency_type = $${values.push(type)}`;
    const ofLaunch = launch === undefined ? '' : ` AND ${LAUNCH} = $${values.push(launch)}`;
    const rows = `${FROM}${ofType}${ofLaunch}`;
    return readPage<ListedCurrency>(read, params, {
      list: `currencies ${type ?? ''} ${launch ?? ''}`,
      chain,
      sql: `SELECT ${COLUMNS} FROM ${rows}`,
      values,
      key: [
        { column: 'from_height', sql: 'c.from_height', kind: 'integer', order: 'DESC' },
        { column: 'currency_id', sql: 'c.currency_id', kind: 'text', order: 'DESC' },
      ],
      total: () => countRows(read, api, chain, { rows, values }),
      row: (row) => ({
        currencyId: row.currency_id,
        name: row.name,
        fullyQualifiedName: row.fully_qualified_name,
        chain,
        type: row.currency_type,
        options: row.options,
        parent: row.parent,
        parentName: currencies.name(row.parent),
        systemId: row.system_id,
        definitionTxid: row.txid,
        definitionHeight: row.from_height,
        startBlock: row.start_block,
        launch: row.launch,
        supply: coinsOrNull(row.supply),
      }),
    });
  },
});

export const currencyListRoutes = [list];
