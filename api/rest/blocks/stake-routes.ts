/** /api/stakes */

import { columns, rowReader, storedColumns } from '../../../infra/postgres/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import { countRowsByHeight } from '../../http/count-rows.ts';
import { listRoute } from '../../http/list-route.ts';
import { chainParameter } from '../../http/parameters.ts';
import { coins } from '../../http/values.ts';
import { stakeRow } from '../search/explorer-schema.ts';
import { tipHeight } from './routes.ts';

const STAKE = {
  chain: columns.text,
  height: columns.number,
  ...storedColumns(DEFINITIONS.block, ['hash', 'time']),
  stake_txid: columns.text,
  stake_address: columns.nullable(columns.text),
  stake_reward_address: columns.nullable(columns.text),
  stake_source_txid: columns.text,
  stake_source_vout: columns.number,
  stake_amount: columns.bigint,
  ...storedColumns(DEFINITIONS.block, ['reward']),
};

const readStake = rowReader(STAKE);

const STAKED = 'blocks WHERE chain = $1 AND stake_txid IS NOT NULL';
const SQL = `SELECT ${Object.keys(STAKE).join(', ')} FROM ${STAKED}`;

const list = listRoute({
  path: '/api/stakes/',
  summary: 'Staked blocks with the coins that won them, newest first',
  parameters: { chain: chainParameter },
  row: stakeRow,
  reader: readStake,
  key: [{ column: 'height', sql: 'height', kind: 'integer', order: 'DESC' }],
  async select({ params: { chain }, read, api }) {
    tipHeight(read, chain);
    return {
      list: 'stakes',
      sql: SQL,
      values: [chain],
      total: () => countRowsByHeight(read, api, chain, 'height', { rows: STAKED, values: [chain], isOpenEnded: true }),
      show: (rows) =>
        rows.map((row) => ({
          chain: row.chain,
          height: row.height,
          hash: row.hash,
          txid: row.stake_txid,
          time: Number(row.time),
          address: row.stake_address,
          rewardAddress: row.stake_reward_address,
          stakeTxid: row.stake_source_txid,
          stakeVout: row.stake_source_vout,
          stakeAmount: coins(row.stake_amount),
          reward: coins(row.reward),
        })),
    };
  },
});

export const stakeRoutes = [list];
