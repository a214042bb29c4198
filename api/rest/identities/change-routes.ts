/** /api/identity/:nameOrId/changes: the audit trail of an identity. */

import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import { ApiError } from '../../http/api-error.ts';
import { countRowsByHeight } from '../../http/count-rows.ts';
import { heightCondition, heightParameters } from '../../http/height-range.ts';
import { pageLinks } from '../../http/page-links.ts';
import { pageParameters, readPage } from '../../http/paging.ts';
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { HeadedValue, stateRoute } from '../../http/route.ts';
import { integer } from '../../schema/json-schema.ts';
import { readChanges } from '../../state/identity-changes.ts';
import { inTurns } from '../../state/in-turns.ts';
import { ALLOWED, measuredRows } from '../../state/measured-rows.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { identityAt } from './identity-rows.ts';
import { identityParameter } from './routes.ts';
import { identityChanges } from './schema.ts';

const CHANGES = {
  columns: 'i.from_height, i.tx_index, i.vout, i.txid, i.kind, i.changes, b.time',
  bytes: 'octet_length(i.changes::text)',
  from: `FROM identities i JOIN blocks b ON b.chain = i.chain AND b.height = i.from_height
    WHERE i.chain = $1 AND i.identity_address = $2`,
  order: 'i.from_height DESC, i.tx_index DESC, i.vout DESC',
};
const CHANGES_ROWS = 'identities i WHERE i.chain = $1 AND i.identity_address = $2';

/** One update of an identity; `changes` is a JSON list of members before and after. */
const readChange = rowReader({
  from_height: columns.number,
  ...storedColumns(DEFINITIONS.identity, ['txid', 'kind', 'changes']),
  ...storedColumns(DEFINITIONS.block, ['time']),
});

const change = (row: RowRead<typeof readChange>) => ({
  height: row.from_height,
  time: Number(row.time),
  txid: row.txid,
  kind: row.kind,
  changes: readChanges(row.changes),
});

const tooManyChanges = () =>
  new ApiError(
    'answer_too_large',
    `without a page an answer has at most ${ALLOWED}: ask by page, with pageSize and then cursor, or for fewer heights with fromHeight and toHeight`,
  );

const CHANGES_PATH = '/api/identity/:nameOrId/changes';

const changesParameters = {
  nameOrId: identityParameter,
  chain: chainParameter,
  ...heightParameters,
  ...pageParameters,
  pageSize: queryParameter('Rows a page; more than 200 is served as 200', { ...integer, minimum: 1 }),
};

const changes = stateRoute({
  path: CHANGES_PATH,
  summary: `What each update of an identity changed, newest first: all of them, at most ${ALLOWED}, or by page or cursor`,
  parameters: changesParameters,
  response: identityChanges,
  headers: ['Link'],
  weight: 2,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain } = params;
    const tip = tipHeight(read, chain);
    const { identity_address: address } = await identityAt(read, api, chain, params.nameOrId, tip);
    const values: unknown[] = [chain, address];
    const within = heightCondition(params, 'i.from_height', values);
    if (params.page === undefined && params.cursor === undefined && params.pageSize === undefined) {
      const rows = await measuredRows(read, readChange, { ...CHANGES, from: CHANGES.from + within, values });
      if (rows === null) throw tooManyChanges();
      return await inTurns(rows, change);
    }
    const page = await readPage(read, params, {
      list: `changes ${address}`,
      chain,
      sql: `SELECT ${CHANGES.columns} ${CHANGES.from}${within}`,
      values,
      key: [
        { column: 'from_height', sql: 'i.from_height', kind: 'integer', order: 'DESC' },
        { column: 'tx_index', sql: 'i.tx_index', kind: 'integer', order: 'DESC' },
        { column: 'vout', sql: 'i.vout', kind: 'integer', order: 'DESC' },
      ],
      total: () => countRowsByHeight(read, api, chain, 'from_height', { rows: CHANGES_ROWS + within, values }),
      reader: readChange,
      show: (rows) => inTurns(rows, change),
    });
    return new HeadedValue(page, {
      Link: pageLinks({ path: CHANGES_PATH, parameters: changesParameters }, params, page),
    });
  },
});

export const identityChangeRoutes = [changes];
