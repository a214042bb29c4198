/** /api/blocks */

import { finalizedHeight } from '../../../domain/finality.ts';
import { columns, type RowRead, rowReader, storedColumns } from '../../../infra/postgres/row-reader.ts';
import { DEFINITIONS, type TransactionType } from '../../../schemas/facts.ts';
import { ApiError, notFound } from '../../http/api-error.ts';
import { listRoute } from '../../http/list-route.ts';
import { chainParameter, pathParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins, coinsOrNull, decimal } from '../../http/values.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { blockDetail, blockRow } from './schema.ts';

const BLOCK = {
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

const WHOLE_BLOCK = storedColumns(DEFINITIONS.block, [
  'previousHash',
  'merkleRoot',
  'chainWork',
  'chainStake',
  'bits',
  'nonce',
  'version',
  'fees',
  'feePool',
]);
const readWholeBlock = rowReader({
  ...BLOCK,
  ...WHOLE_BLOCK,
  next_hash: columns.nullable(columns.text),
  /** JSON text: its transactions in order; null where none is decoded. */
  transactions: columns.nullable(columns.text),
});

interface TransactionSummary {
  readonly txid: string;
  readonly kind: TransactionType;
  /** Satoshis. */
  readonly fee: string | null;
  readonly size: number;
}

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
  parameters: { chain: chainParameter },
  row: blockRow,
  reader: readBlock,
  key: [{ column: 'height', sql: 'height', kind: 'integer', order: 'DESC' }],
  async select({ params: { chain }, read }) {
    const tip = tipHeight(read, chain);
    return {
      list: 'blocks',
      sql: `SELECT ${BLOCK_COLUMNS} FROM blocks WHERE chain = $1`,
      values: [chain],
      // Heights have no gaps, so nothing needs to be counted.
      total: async () => tip + 1,
      show: (rows) => rows.map(blockAnswer),
    };
  },
});

const DETAIL_SQL = `SELECT ${BLOCK_COLUMNS}, ${Object.keys(WHOLE_BLOCK).join(', ')},
    (SELECT hash FROM blocks WHERE chain = $1 AND height = b.height + 1) AS next_hash,
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
    const block = await read.row(readWholeBlock, DETAIL_SQL, [params.chain, params.height]);
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
