/** /api/stakes */

import { countRowsByHeight } from '../../http/count-rows.ts';
import { pageParameters, readPage } from '../../http/paging.ts';
import { chainParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins } from '../../http/values.ts';
import { stakeList } from '../search/explorer-schema.ts';
import { tipHeight } from './routes.ts';

interface StakeRecord {
  readonly chain: string;
  readonly height: number;
  readonly hash: string;
  readonly time: bigint;
  readonly stake_txid: string;
  readonly stake_address: string | null;
  readonly stake_reward_address: string | null;
  readonly stake_source_txid: string;
  readonly stake_source_vout: number;
  readonly stake_amount: bigint;
  readonly reward: bigint;
}

const STAKED = 'blocks WHERE chain = $1 AND stake_txid IS NOT NULL';
const SQL = `SELECT chain, height, hash, time, stake_txid, stake_address, stake_reward_address, stake_source_txid,
  stake_source_vout, stake_amount, reward FROM ${STAKED}`;

const list = stateRoute({
  path: '/api/stakes/',
  summary: 'Staked blocks with the coins that won them, newest first',
  parameters: { chain: chainParameter, ...pageParameters },
  response: stakeList,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain } = params;
    tipHeight(read, chain);
    return readPage(read, params, {
      list: 'stakes',
      chain,
      sql: SQL,
      values: [chain],
      key: [{ column: 'height', sql: 'height', kind: 'integer', order: 'DESC' }],
      total: () => countRowsByHeight(read, api, chain, 'height', { rows: STAKED, values: [chain], isOpenEnded: true }),
      row: (row: StakeRecord) => ({
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
      }),
    });
  },
});

export const stakeRoutes = [list];
