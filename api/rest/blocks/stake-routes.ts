/** /api/stakes */

import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import { countRowsByHeight } from '../../http/count-rows.ts';
import { heightCondition } from '../../http/height-range.ts';
import { listRoute } from '../../http/list-route.ts';
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { coins } from '../../http/values.ts';
import { writtenAddress } from '../../schema/json-schema.ts';
import { resolveAddress } from '../../state/addresses.ts';
import { identityNames } from '../../state/identity-names.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { stakeRow } from '../search/explorer-schema.ts';

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

const list = listRoute({
  path: '/api/stakes/',
  summary: 'Staked blocks with the coins that won them, newest first',
  parameters: {
    chain: chainParameter,
    address: queryParameter(
      'Only blocks that coins of this address won: R-address, i-address or name@',
      writtenAddress,
    ),
  },
  row: stakeRow,
  reader: readStake,
  key: [{ column: 'height', sql: 'height', kind: 'integer', order: 'DESC' }],
  async select({ params, heights, read, api }) {
    const { chain } = params;
    tipHeight(read, chain);
    const address = params.address === undefined ? null : resolveAddress(api.chain(chain), params.address, 'address');
    const values: unknown[] = [chain];
    const byAddress = address === null ? '' : ` AND stake_address = $${values.push(address)}`;
    const within = heightCondition(heights, 'height', values);
    const staked = `blocks WHERE chain = $1 AND stake_txid IS NOT NULL${byAddress}${within}`;
    return {
      list: `stakes ${address ?? ''}`,
      sql: `SELECT ${Object.keys(STAKE).join(', ')} FROM ${staked}`,
      values,
      total: () => countRowsByHeight(read, api, chain, 'height', { rows: staked, values, isOpenEnded: true }),
      async show(rows) {
        const addresses = rows.flatMap((row) => [row.stake_address ?? '', row.stake_reward_address ?? '']);
        const names = await identityNames(read, [chain], addresses);
        const nameOf = (staker: string | null) => names.get(staker ?? '')?.name ?? null;
        return rows.map((row) => ({
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
      },
    };
  },
});

export const stakeRoutes = [list];
