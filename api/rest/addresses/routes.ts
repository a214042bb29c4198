/** /api/address */

import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS, type RewardFact } from '../../../schemas/facts.ts';
import { countRowsByHeight } from '../../http/count-rows.ts';
import { heightCondition } from '../../http/height-range.ts';
import { listRoute } from '../../http/list-route.ts';
import { chainParameter } from '../../http/parameters.ts';
import { coins } from '../../http/values.ts';
import { askedMempool, mempoolTag, unconfirmedParameter } from '../../mempool/unconfirmed-part.ts';
import { integer, nullable, string } from '../../schema/json-schema.ts';
import { addressParameter, resolveAddress } from '../../state/addresses.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { usdParameter } from '../prices/worth-then.ts';
import { amounts } from '../transactions/amounts.ts';
import { ACTIVITY_SQL, activityWorth, readActivity } from './activity-rows.ts';
import { activityRow, rewardRow, rewardSum, waitingActivity } from './schema.ts';
import { waitingAtAddress } from './waiting-activity.ts';

const HISTORY_ROWS = 'address_activity a WHERE a.chain = $1 AND a.address = $2';

const history = listRoute({
  path: '/api/address/:addr',
  summary: 'The effect of each transaction on an address, newest first',
  parameters: {
    addr: addressParameter,
    chain: chainParameter,
    unconfirmed: unconfirmedParameter,
    usd: usdParameter,
  },
  row: activityRow,
  members: { address: string, chain: string, txCount: integer, unconfirmed: nullable(waitingActivity) },
  extraTag: mempoolTag,
  reader: readActivity,
  key: [
    { column: 'height', sql: 'a.height', kind: 'integer', order: 'DESC' },
    { column: 'tx_index', sql: 'a.tx_index', kind: 'integer', order: 'DESC' },
  ],
  async select({ params, heights, read, api }) {
    const { chain, addr } = params;
    tipHeight(read, chain);
    const address = resolveAddress(api.chain(chain), addr);
    const journal = askedMempool({ params, api });
    const currencies = await api.currencies.of(read);
    const unconfirmed = journal && (await waitingAtAddress(journal, address, { read, chain, currencies }));
    const values: unknown[] = [chain, address];
    const within = heightCondition(heights, 'a.height', values);
    return {
      list: `address ${address}`,
      sql: ACTIVITY_SQL + within,
      values,
      total: () => countRowsByHeight(read, api, chain, 'height', { rows: HISTORY_ROWS + within, values }),
      async show(rows) {
        const worth = params.usd ? await activityWorth(read, api, { chain, rows, currencies }) : () => ({});
        return rows.map((row) => ({
          txid: row.txid,
          height: row.height,
          time: Number(row.time),
          type: row.kind,
          received: coins(row.received),
          sent: coins(row.sent),
          net: coins(row.received - row.sent),
          currencies: amounts(row.currencies, currencies),
          ...worth(row),
        }));
      },
      members: ({ total }) => ({ address, chain, txCount: total, unconfirmed }),
    };
  },
});

const readReward = rowReader({
  height: columns.number,
  ...storedColumns(DEFINITIONS.reward, ['txid', 'vout', 'kind', 'amount']),
  ...storedColumns(DEFINITIONS.block, ['time']),
});
const readRewardSum = rowReader({
  ...storedColumns(DEFINITIONS.reward, ['kind']),
  count: columns.bigint,
  total: columns.text,
});

const REWARDS_SQL = `SELECT r.height, r.txid, r.vout, r.kind, r.amount, b.time FROM rewards r
  JOIN blocks b ON b.chain = r.chain AND b.height = r.height WHERE r.chain = $1 AND r.address = $2`;
const rewardSumsSql = (within: string) => `SELECT kind, count(*), sum(amount)::text AS total FROM rewards r
  WHERE chain = $1 AND address = $2${within} GROUP BY kind`;
/** Seconds until a coinbase may be spent: 100 blocks of one minute; other chains scale the number of blocks by their block time. */
const MATURITY_SECONDS = 6000;

const rewards = listRoute({
  path: '/api/address/:addr/rewards',
  summary: 'Mining and staking rewards of an address, newest first',
  parameters: { addr: addressParameter, chain: chainParameter },
  row: rewardRow,
  members: { address: string, chain: string, mining: rewardSum, staking: rewardSum },
  reader: readReward,
  key: [
    { column: 'height', sql: 'r.height', kind: 'integer', order: 'DESC' },
    { column: 'txid', sql: 'r.txid', kind: 'hex', order: 'DESC' },
    { column: 'vout', sql: 'r.vout', kind: 'integer', order: 'DESC' },
  ],
  async select({ params: { chain, addr }, heights, read, api }) {
    const tip = tipHeight(read, chain);
    const address = resolveAddress(api.chain(chain), addr);
    const maturity = MATURITY_SECONDS / api.chain(chain).blockSeconds;
    const values: unknown[] = [chain, address];
    const within = heightCondition(heights, 'r.height', values);
    const sums = await api.memo.get(
      `sums of rewards ${within} ${JSON.stringify(values)}`,
      read.state.factsTag(chain),
      () => read.rows(readRewardSum, rewardSumsSql(within), values),
    );
    const sumOf = (kind: RewardFact['kind']) => {
      const sum = sums.find((row) => row.kind === kind);
      return { count: Number(sum?.count ?? 0n), total: coins(BigInt(sum?.total ?? '0')) };
    };
    return {
      list: `rewards ${address}`,
      sql: REWARDS_SQL + within,
      values,
      total: async () => sums.reduce((total, row) => total + Number(row.count), 0),
      show: (rows) =>
        rows.map(({ height, time, txid, vout, kind, amount }) => ({
          height,
          time: Number(time),
          txid,
          vout,
          type: kind,
          amount: coins(amount),
          mature: tip - height >= maturity,
        })),
      members: () => ({ address, chain, mining: sumOf('mining'), staking: sumOf('staking') }),
    };
  },
});

export const addressRoutes = [history, rewards];
