/** /api/bridge/recent */

import { countRows } from '../../http/count-rows.ts';
import { pageParameters, readPage } from '../../http/paging.ts';
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { resolveAddress } from '../../state/addresses.ts';
import { tipHeight } from '../blocks/routes.ts';
import { type BridgeRecord, bridgeAnswers, bridgeSql } from './bridge-rows.ts';
import { BRIDGE_DIRECTIONS, bridgeTransferList } from './schema.ts';

const recent = stateRoute({
  path: '/api/bridge/recent',
  summary: 'Transfers between the chain and other systems, newest first',
  parameters: {
    chain: chainParameter,
    direction: queryParameter('in or out of the chain', { type: 'string', enum: BRIDGE_DIRECTIONS }),
    address: queryParameter('Sender or recipient', writtenName),
    ...pageParameters,
  },
  response: bridgeTransferList,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'all',
  async handler({ params, read, api }) {
    const { chain } = params;
    const { direction, address: asked } = params;
    tipHeight(read, chain);
    const address = asked === undefined ? undefined : resolveAddress(api.chain(chain), asked, 'address');
    const { sql, rows, values } = bridgeSql({ generation: read.state.generation, chain, direction, address });
    const page = await readPage(read, params, {
      list: `bridge ${direction ?? ''} ${address ?? ''}`,
      chain,
      sql,
      values,
      key: [
        { column: 'request_height', sql: 't.request_height', kind: 'integer', order: 'DESC' },
        { column: 'txid', sql: 't.txid', kind: 'hex', order: 'ASC' },
        { column: 'vout', sql: 't.vout', kind: 'integer', order: 'ASC' },
      ],
      total: () => countRows(read, api, null, { rows, values }),
      row: (row: BridgeRecord) => row,
    });
    return { ...page, results: await bridgeAnswers(read, api, page.results) };
  },
});

export const bridgeRoutes = [recent];
