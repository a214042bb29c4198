/** /api/blocks */
import { ApiError } from '../../http/api-error.ts';
import { countRowsByHeight } from '../../http/count-rows.ts';
import { pageParameters, readPage } from '../../http/paging.ts';
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins, coinsOrNull, decimal } from '../../http/values.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { blockList, VALIDATION_TYPES } from './schema.ts';

export interface BlockRecord {
  readonly chain: string;
  readonly height: number;
  readonly hash: string;
  readonly time: bigint;
  readonly size: number;
  readonly tx_count: number;
  readonly validation_type: string;
  readonly difficulty: string;
  readonly reward: bigint;
  readonly miner_address: string | null;
  readonly stake_amount: bigint | null;
}

export const BLOCK_COLUMNS =
  'chain, height, hash, time, size, tx_count, validation_type, difficulty, reward, miner_address, stake_amount';

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

const list = stateRoute({
  path: '/api/blocks/',
  summary: 'Blocks of a chain, newest first',
  parameters: {
    chain: chainParameter,
    validationType: queryParameter('Only blocks by proof of work, or by stake', {
      type: 'string',
      enum: VALIDATION_TYPES,
    }),
    ...pageParameters,
  },
  response: blockList,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain, validationType } = params;
    const tip = tipHeight(read, chain);
    const rows = `blocks WHERE chain = $1${validationType === undefined ? '' : ' AND validation_type = $2'}`;
    const values = validationType === undefined ? [chain] : [chain, validationType];
    return readPage<BlockRecord>(read, params, {
      list: `blocks ${validationType ?? ''}`,
      chain,
      sql: `SELECT ${BLOCK_COLUMNS} FROM ${rows}`,
      values,
      key: [{ column: 'height', sql: 'height', kind: 'integer', order: 'DESC' }],
      // Heights have no gaps, so all blocks need not be counted.
      total: async () =>
        validationType === undefined ? tip + 1 : countRowsByHeight(read, api, chain, 'height', { rows, values }),
      row: blockAnswer,
    });
  },
});

export const blockRoutes = [list];
