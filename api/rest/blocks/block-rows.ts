/** Stored rows of blocks, and the members that lists show of them. */
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import { coins, coinsOrNull, decimal } from '../../http/values.ts';

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
export type BlockAnswer = ReturnType<typeof blockAnswer>;

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
