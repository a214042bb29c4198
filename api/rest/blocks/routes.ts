/** /api/blocks */

import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import { ApiError } from '../../http/api-error.ts';
import { countRowsByHeight } from '../../http/count-rows.ts';
import { heightCondition } from '../../http/height-range.ts';
import { listRoute } from '../../http/list-route.ts';
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { coins, coinsOrNull, decimal } from '../../http/values.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { blockRow, VALIDATION_TYPES } from './schema.ts';

export const BLOCK = {
  chain: columns.text,
  height: columns.number,
  ...storedColumns(DEFINITIONS.block, [
    'hash',
    'time',
    'size',
    'txCount',
    'validationType',
    'difficulty',
    'reward',
    'minerAddress',
  ]),
  stake_amount: columns.nullable(columns.bigint),
};
export const BLOCK_COLUMNS = Object.keys(BLOCK).join(', ');
export const readBlock = rowReader(BLOCK);
export type BlockRecord = RowRead<typeof readBlock>;

/** Schema of a height in a path. */
export const HEIGHT = { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1 } as const;

export function blockAnswer(block: BlockRecord) {
  return {
    chain: block.chain,
    height: block.height,
    hash: block.hash,
    time: Number(block.time),
    txCount: block.tx_count,
    size: block.size,
    difficulty: decimal(block.difficulty),
    validationType: block.validation_type,
    blockReward: coins(block.reward),
    minerAddress: block.miner_address,
    stakeAmount: coinsOrNull(block.stake_amount),
  };
}

/** Newest indexed height. @throws ApiError syncing before the first block */
export function tipHeight(read: Snapshot, chain: string): number {
  const tip = read.state.derived.get(chain);
  if (!tip) throw new ApiError('syncing', `no block of ${chain} is indexed yet`);
  return tip.height;
}

const list = listRoute({
  path: '/api/blocks/',
  summary: 'Blocks of a chain, newest first',
  parameters: {
    chain: chainParameter,
    validationType: queryParameter('Only blocks by proof of work, or by stake', {
      type: 'string',
      enum: VALIDATION_TYPES,
    }),
  },
  row: blockRow,
  reader: readBlock,
  key: [{ column: 'height', sql: 'height', kind: 'integer', order: 'DESC' }],
  async select({ params: { chain, validationType }, heights, read, api }) {
    const tip = tipHeight(read, chain);
    const values: unknown[] = [chain];
    const ofType = validationType === undefined ? '' : ` AND validation_type = $${values.push(validationType)}`;
    const rows = `blocks WHERE chain = $1${ofType}${heightCondition(heights, 'height', values)}`;
    const { fromHeight = 0, toHeight = tip } = heights;
    return {
      list: `blocks ${validationType ?? ''}`,
      sql: `SELECT ${BLOCK_COLUMNS} FROM ${rows}`,
      values,
      // Heights have no gaps, so all blocks need not be counted.
      total: async () =>
        validationType === undefined
          ? Math.max(0, Math.min(toHeight, tip) - fromHeight + 1)
          : countRowsByHeight(read, api, chain, 'height', { rows, values }),
      show: (shown) => shown.map(blockAnswer),
    };
  },
});

export const blockRoutes = [list];
