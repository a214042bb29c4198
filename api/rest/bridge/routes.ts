/** /api/bridge/recent */

import { countRows } from '../../http/count-rows.ts';
import { listRoute } from '../../http/list-route.ts';
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { resolveAddress } from '../../state/addresses.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { TRANSFER_KEY } from '../conversions/transfer-ends.ts';
import { bridgeAnswers, bridgeSql, readBridged } from './bridge-rows.ts';
import { BRIDGE_DIRECTIONS, bridgeTransfer } from './schema.ts';

const recent = listRoute({
  path: '/api/bridge/recent',
  summary: 'Transfers between the chain and other systems, newest first',
  parameters: {
    chain: chainParameter,
    direction: queryParameter('in or out of the chain', { type: 'string', enum: BRIDGE_DIRECTIONS }),
    address: queryParameter('Sender or recipient', writtenName),
  },
  row: bridgeTransfer,
  reader: readBridged,
  key: TRANSFER_KEY,
  scope: 'all',
  async select({ params: { chain, direction, address: asked }, heights, read, api }) {
    tipHeight(read, chain);
    const address = asked === undefined ? undefined : resolveAddress(api.chain(chain), asked, 'address');
    const chains = api.config.chains.map(({ name }) => name);
    const { sql, rows, values } = bridgeSql({ state: read.state, chain, chains, direction, address, heights });
    return {
      list: `bridge ${direction ?? ''} ${address ?? ''}`,
      sql,
      values,
      total: () => countRows(read, api, null, { rows, values }),
      show: (found) => bridgeAnswers(read, api, found),
    };
  },
});

export const bridgeRoutes = [recent];
