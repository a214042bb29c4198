/** /api/stakes */

import { countRowsByHeight } from '../../http/count-rows.ts';
import { pageParameters, readPage } from '../../http/paging.ts';
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins } from '../../http/values.ts';
import { resolveAddress } from '../../state/addresses.ts';
import { identityNames } from '../../state/identity-names.ts';
import { ADDRESS } from '../addresses/schema.ts';
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

const COLUMNS = `chain, height, hash, time, stake_txid, stake_address, stake_reward_address, stake_source_txid,
  stake_source_vout, stake_amount, reward`;

const list = stateRoute({
  path: '/api/stakes/',
  summary: 'Staked blocks with the coins that won them, newest first',
  parameters: {
    chain: chainParameter,
    address: queryParameter('Only those that the coins of this address won: R-address, i-address or name@', ADDRESS),
    ...pageParameters,
  },
  response: stakeList,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain } = params;
    tipHeight(read, chain);
    const address = params.address === undefined ? null : resolveAddress(api.chain(chain), params.address, 'address');
    const values = address === null ? [chain] : [chain, address];
    const rows = `blocks WHERE chain = $1 AND stake_txid IS NOT NULL${address === null ? '' : ' AND stake_address = $2'}`;
    const page = await readPage<StakeRecord>(read, params, {
      list: `stakes ${address ?? ''}`,
      chain,
      sql: `SELECT ${COLUMNS} FROM ${rows}`,
      values,
      key: [{ column: 'height', sql: 'height', kind: 'integer', order: 'DESC' }],
      total: () => countRowsByHeight(read, api, chain, 'height', { rows, values, isOpenEnded: true }),
      row: (row) => row,
    });
    const stakes = page.results as StakeRecord[];
    const addresses = stakes.flatMap((row) => [row.stake_address ?? [], row.stake_reward_address ?? []].flat());
    const names = await identityNames(read, [chain], addresses);
    const nameOf = (staker: string | null) => names.get(staker ?? '')?.name ?? null;
    const results = stakes.map((row) => ({
      chain: row.chain,
      height: row.height,
      hash: row.hash,
      txid: row.stake_txid,
      time: Number(row.time),
      address: row.stake_address,
      name: nameOf(row.stake_address),
      rewardAddress: row.stake_reward_address,
      rewardName: nameOf(row.stake_reward_address),
      stakeTxid: row.stake_source_txid,
      stakeVout: row.stake_source_vout,
      stakeAmount: coins(row.stake_amount),
      reward: coins(row.reward),
    }));
    return { ...page, results };
  },
});

export const stakeRoutes = [list];
