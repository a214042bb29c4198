/** /api/address */

import { countRowsByHeight } from '../../http/count-rows.ts';
import { pageParameters, readPage } from '../../http/paging.ts';
import { chainParameter, pathParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins } from '../../http/values.ts';
import { resolveAddress } from '../../state/addresses.ts';
import { tipHeight } from '../blocks/routes.ts';
import { amounts } from '../transactions/amounts.ts';
import { ACTIVITY_SQL, type ActivityRecord } from './activity-rows.ts';
import { ADDRESS, addressHistory, addressRewards } from './schema.ts';

export const addressParameter = pathParameter('R-address, i-address or name@', ADDRESS);

const HISTORY_ROWS = 'address_activity WHERE chain = $1 AND address = $2';

const history = stateRoute({
  path: '/api/address/:addr',
  summary: 'What each transaction did to an address, newest first',
  parameters: { addr: addressParameter, chain: chainParameter, ...pageParameters },
  response: addressHistory,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain } = params;
    tipHeight(read, chain);
    const address = resolveAddress(api.chain(chain), params.addr);
    const currencies = await api.currencies.of(read);
    const page = await readPage<ActivityRecord>(read, params, {
      list: `address ${address}`,
      chain,
      sql: ACTIVITY_SQL,
      values: [chain, address],
      key: [
        { column: 'height', sql: 'a.height', kind: 'integer', order: 'DESC' },
        { column: 'tx_index', sql: 'a.tx_index', kind: 'integer', order: 'DESC' },
      ],
      total: () => countRowsByHeight(read, api, chain, 'height', { rows: HISTORY_ROWS, values: [chain, address] }),
      row: (row) => ({
        txid: row.txid,
        height: row.height,
        time: Number(row.time),
        type: row.kind,
        received: coins(row.received),
        sent: coins(row.sent),
        net: coins(row.received - row.sent),
        currencies: amounts(row.currencies, currencies),
      }),
    });
    return { address, chain, txCount: page.total, ...page };
  },
});

interface RewardRecord {
  readonly height: number;
  readonly txid: string;
  readonly vout: number;
  readonly kind: 'mining' | 'staking';
  readonly amount: bigint;
  readonly time: bigint;
}

const REWARDS_SQL = `SELECT r.height, r.txid, r.vout, r.kind, r.amount, b.time FROM rewards r
  JOIN blocks b ON b.chain = r.chain AND b.height = r.height WHERE r.chain = $1 AND r.address = $2`;
const REWARD_SUMS_SQL = `SELECT kind, count(*), sum(amount)::text AS total FROM rewards
  WHERE chain = $1 AND address = $2 GROUP BY kind`;
/** Seconds until a coinbase may be spent: 100 blocks of a minute, scaled by the block time on other chains. */
const MATURITY_SECONDS = 6000;

const rewards = stateRoute({
  path: '/api/address/:addr/rewards',
  summary: 'Mining and staking rewards of an address, newest first',
  parameters: { addr: addressParameter, chain: chainParameter, ...pageParameters },
  response: addressRewards,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain } = params;
    const tip = tipHeight(read, chain);
    const address = resolveAddress(api.chain(chain), params.addr);
    const maturity = MATURITY_SECONDS / api.chain(chain).blockSeconds;
    const sums = await read.rows<{ kind: string; count: bigint; total: string }>(REWARD_SUMS_SQL, [chain, address]);
    const sumOf = (kind: string) => {
      const sum = sums.find((row) => row.kind === kind);
      return { count: Number(sum?.count ?? 0n), total: coins(BigInt(sum?.total ?? '0')) };
    };
    const page = await readPage<RewardRecord>(read, params, {
      list: `rewards ${address}`,
      chain,
      sql: REWARDS_SQL,
      values: [chain, address],
      key: [
        { column: 'height', sql: 'r.height', kind: 'integer', order: 'DESC' },
        { column: 'txid', sql: 'r.txid', kind: 'hex', order: 'DESC' },
        { column: 'vout', sql: 'r.vout', kind: 'integer', order: 'DESC' },
      ],
      total: async () => sums.reduce((total, row) => total + Number(row.count), 0),
      row: ({ height, time, txid, vout, kind, amount }) => ({
        height,
        time: Number(time),
        txid,
        vout,
        type: kind,
        amount: coins(amount),
        mature: tip - height >= maturity,
      }),
    });
    return { address, chain, mining: sumOf('mining'), staking: sumOf('staking'), ...page };
  },
});

export const addressRoutes = [history, rewards];
