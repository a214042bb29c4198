/** /api/blocks */

import { finalizedHeight } from '../../../domain/finality.ts';
import type { BlockFact, TransactionType } from '../../../schemas/facts.ts';
import { ApiError, notFound } from '../../http/api-error.ts';
import { pageParameters, readPage } from '../../http/paging.ts';
import { chainParameter, pathParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins, coinsOrNull, decimal } from '../../http/values.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { blockDetail, blockList } from './schema.ts';

export interface BlockRecord {
  readonly chain: string;
  readonly height: number;
  readonly hash: string;
  readonly time: bigint;
  readonly size: number;
  readonly tx_count: number;
  readonly validation_type: BlockFact['validationType'];
  readonly difficulty: string;
  readonly reward: bigint;
  readonly miner_address: string | null;
  readonly stake_amount: bigint | null;
}

interface WholeBlock extends BlockRecord {
  readonly previous_hash: string | null;
  readonly next_hash: string | null;
  readonly merkle_root: string;
  readonly chain_work: string;
  readonly chain_stake: string;
  readonly bits: string;
  readonly nonce: string;
  readonly version: bigint;
  readonly fees: bigint;
  readonly fee_pool: bigint | null;
  /** JSON text: its transactions in order; null where none is decoded. */
  readonly transactions: string | null;
}

interface TransactionSummary {
  readonly txid: string;
  readonly kind: TransactionType;
  /** Satoshis. */
  readonly fee: string | null;
  readonly size: number;
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
  parameters: { chain: chainParameter, ...pageParameters },
  response: blockList,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'chain',
  async handler({ params, read }) {
    const tip = tipHeight(read, params.chain);
    return readPage(read, params, {
      list: 'blocks',
      chain: params.chain,
      sql: `SELECT ${BLOCK_COLUMNS} FROM blocks WHERE chain = $1`,
      values: [params.chain],
      key: [{ column: 'height', sql: 'height', kind: 'integer', order: 'DESC' }],
      // Heights have no gaps, so nothing needs to be counted.
      total: async () => tip + 1,
      row: blockAnswer,
    });
  },
});

const DETAIL_SQL = `SELECT ${BLOCK_COLUMNS}, previous_hash, merkle_root, chain_work, chain_stake, bits, nonce, version, fees,
    fee_pool, (SELECT hash FROM blocks WHERE chain = $1 AND height = b.height + 1) AS next_hash,
    (SELECT json_agg(tx) FROM (SELECT encode(txid, 'hex') AS txid, kind, fee::text, size FROM transactions
      WHERE chain = $1 AND height = $2 ORDER BY tx_index) AS tx) AS transactions
  FROM blocks b WHERE chain = $1 AND height = $2`;

const detail = stateRoute({
  path: '/api/blocks/:height',
  summary: 'A block by its height',
  parameters: {
    height: pathParameter('Height of the block', HEIGHT),
    chain: chainParameter,
  },
  response: blockDetail,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'chain',
  settledAt: ({ height }) => height,
  async handler({ params, read, api }) {
    const tip = tipHeight(read, params.chain);
    const block = await read.row<WholeBlock>(DETAIL_SQL, [params.chain, params.height]);
    if (!block) throw notFound(`block ${params.height} of ${params.chain}`);
    const transactions = JSON.parse(block.transactions ?? '[]') as TransactionSummary[];
    return {
      ...blockAnswer(block),
      previousHash: block.previous_hash,
      nextHash: block.next_hash,
      merkleRoot: block.merkle_root,
      chainWork: block.chain_work,
      chainStake: block.chain_stake,
      bits: block.bits,
      nonce: block.nonce,
      version: Number(block.version),
      fees: coins(block.fees),
      feePool: coinsOrNull(block.fee_pool),
      confirmations: tip - block.height + 1,
      finalizedHeight: finalizedHeight(tip, api.chain(params.chain).finalityDepth),
      transactions: transactions.map(({ txid, kind, fee, size }) => ({
        txid,
        type: kind,
        fee: fee === null ? null : coins(BigInt(fee)),
        size,
      })),
    };
  },
});

export const blockRoutes = [list, detail];
