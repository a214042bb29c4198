/** /api/currency/: the currencies that a chain knows. */
import { LAUNCH_STATUSES, launchStatusSql } from '../../../domain/launch.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { CURRENCY_TYPES, DEFINITIONS } from '../../../schemas/facts.ts';
import { countRows } from '../../http/count-rows.ts';
import { heightCondition } from '../../http/height-range.ts';
import { listRoute } from '../../http/list-route.ts';
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { coinsOrNull } from '../../http/values.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { currencyRow } from './schema.ts';

const readListed = rowReader({
  ...storedColumns(DEFINITIONS.currency, [
    'currencyId',
    'name',
    'fullyQualifiedName',
    'parent',
    'systemId',
    'currencyType',
    'options',
    'startBlock',
    'txid',
  ]),
  from_height: columns.number,
  supply: columns.nullable(columns.bigint),
  launch: columns.choice(LAUNCH_STATUSES),
});

const FROM = `currencies c LEFT JOIN LATERAL (SELECT flags, supply FROM currency_states
  WHERE chain = c.chain AND currency_id = c.currency_id AND to_height IS NULL LIMIT 1) AS state ON true
  WHERE c.chain = $1 AND c.to_height IS NULL`;
const LAUNCH = launchStatusSql('state.flags');
const COLUMNS = `c.currency_id, c.from_height, c.name, c.fully_qualified_name, c.parent, c.system_id, c.currency_type, c.options,
  c.start_block, c.txid, state.supply, ${LAUNCH} AS launch`;

const list = listRoute({
  path: '/api/currency/',
  summary:
    "Currencies that are defined on a chain, newest definition first; a chain's own coin is often not defined on it",
  parameters: {
    chain: chainParameter,
    type: queryParameter('Only currencies of this type', { type: 'string', enum: CURRENCY_TYPES }),
    launch: queryParameter('Only currencies with this launch status', { type: 'string', enum: LAUNCH_STATUSES }),
  },
  row: currencyRow,
  reader: readListed,
  key: [
    { column: 'from_height', sql: 'c.from_height', kind: 'integer', order: 'DESC' },
    { column: 'currency_id', sql: 'c.currency_id', kind: 'text', order: 'DESC' },
  ],
  async select({ params: { chain, type, launch }, heights, read, api }) {
    tipHeight(read, chain);
    const currencies = await api.currencies.of(read);
    const values: unknown[] = [chain];
    const ofType = type === undefined ? '' : ` AND c.currency_type = $${values.push(type)}`;
    const ofLaunch = launch === undefined ? '' : ` AND ${LAUNCH} = $${values.push(launch)}`;
    const rows = `${FROM}${ofType}${ofLaunch}${heightCondition(heights, 'c.from_height', values)}`;
    return {
      list: `currencies ${type ?? ''} ${launch ?? ''}`,
      sql: `SELECT ${COLUMNS} FROM ${rows}`,
      values,
      total: () => countRows(read, api, chain, { rows, values }),
      show: (shown) =>
        shown.map((row) => ({
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
        })),
    };
  },
});

export const currencyListRoutes = [list];
