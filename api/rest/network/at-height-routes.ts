/** /api/stats/network/:height */

import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import { notFound } from '../../http/api-error.ts';
import { chainParameter, pathParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins, coinsOrNull, decimal } from '../../http/values.ts';
import { writtenHeight } from '../../schema/json-schema.ts';
import { supplyAt } from '../../state/supply.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { networkAtHeight } from './schema.ts';
import { averageBlockTime, inPools, readWindow, stakeRatios, WINDOW_SQL } from './window-rows.ts';

const BLOCK = storedColumns(DEFINITIONS.block, ['hash', 'time', 'difficulty', 'chainWork', 'chainStake', 'feePool']);
const readBlock = rowReader(BLOCK);
const readWork = rowReader({ first_work: columns.nullable(columns.text), seconds: columns.nullable(columns.bigint) });

const BLOCK_SQL = `SELECT ${Object.keys(BLOCK).join(', ')} FROM blocks
  WHERE chain = $1 AND height = $2`;
/** Start of the work and the time span of the last 120 blocks, as in getnetworkhashps. */
const WORK_SQL = `SELECT min(chain_work) AS first_work, max(time) - min(time) AS seconds FROM blocks
  WHERE chain = $1 AND height BETWEEN $2 - 120 AND $2`;

/** Hashes a second; null when the time span is 0. */
function hashRate(work: string, window: RowRead<typeof readWork> | undefined): number | null {
  if (!window?.seconds || window.seconds <= 0n) return null;
  return Number((BigInt(`0x${work}`) - BigInt(`0x${window.first_work}`)) / window.seconds);
}

const atHeight = stateRoute({
  path: '/api/stats/network/:height',
  summary: 'The chain as of a block: difficulty, work, stake, supply, block time, ratios, fee pool',
  parameters: { height: pathParameter('Height of the block', writtenHeight), chain: chainParameter },
  response: networkAtHeight,
  weight: 1,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain, height } = params;
    tipHeight(read, chain);
    const block = await read.row(readBlock, BLOCK_SQL, [chain, height]);
    if (!block) throw notFound(`block ${height} of ${chain}`);
    const window = await read.row(readWindow, WINDOW_SQL, [chain, height]);
    const work = await read.row(readWork, WORK_SQL, [chain, height]);
    const supply = await supplyAt(read, api, chain, height);
    return {
      chain,
      height,
      hash: block.hash,
      time: Number(block.time),
      difficulty: decimal(block.difficulty),
      chainWork: block.chain_work,
      chainStake: block.chain_stake,
      hashRate: hashRate(block.chain_work, work),
      avgBlockTime: averageBlockTime(window),
      ...stakeRatios(window),
      feePool: coinsOrNull(block.fee_pool),
      transparentSupply: coinsOrNull(supply?.transparent ?? null),
      shieldedSupply: coinsOrNull(supply?.shielded ?? null),
      circulatingSupply: coinsOrNull(supply ? supply.transparent + supply.shielded : null),
      inPools: coins(await inPools(read, chain, api.currencies.nativeId(api.chain(chain)), height)),
    };
  },
});

export const networkAtHeightRoutes = [atHeight];
