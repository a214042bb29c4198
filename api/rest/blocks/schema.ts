/** Schemas of blocks and reorganisations. */

import { NETWORK_FEE } from '../../schema/fees.ts';
import {
  array,
  boolean,
  coins,
  currencyAmount,
  finalizedHeight,
  hash,
  height,
  integer,
  nullable,
  nullableCoins,
  nullableHash,
  nullableInteger,
  nullableString,
  object,
  string,
  transactionType,
  unixTime,
} from '../../schema/json-schema.ts';

export const REORG_REASONS = ['reorg', 'accepted'] as const;
export const VALIDATION_TYPES = ['work', 'stake'] as const;

const blockProperties = {
  chain: string,
  height,
  hash,
  time: unixTime,
  txCount: integer,
  size: { type: 'integer', description: 'Bytes' },
  difficulty: { type: 'number', description: 'Difficulty of the next proof of work, which `bits` encodes' },
  validationType: { type: 'string', enum: VALIDATION_TYPES },
  blockReward: { ...coins, description: 'Sum of the coinbase outputs without the fee pool' },
  minerAddress: nullableString,
  stakeAmount: { ...nullableCoins, description: 'Coins that won the stake; null for proof of work' },
} as const;

const reorgPlace = {
  forkHeight: { ...height, description: 'Newest block that both branches have' },
  forkHash: hash,
  depth: { type: 'integer', minimum: 1, description: 'Number of blocks that the reorganisation removed' },
  seenAt: {
    ...nullableInteger,
    description: 'Time of the first block of the branch that won; null if that branch has no block yet',
  },
  reason: {
    type: 'string',
    enum: REORG_REASONS,
    description: 'reorg: the daemon followed another branch; accepted: below finality, so an operator accepted it',
  },
} as const;

const transactionSummary = object({
  txid: hash,
  type: transactionType,
  fee: { ...nullableCoins, description: NETWORK_FEE },
  size: integer,
  value: { ...coins, description: 'Coins of all outputs, change included' },
  currencies: array(currencyAmount, 'The same for every other currency'),
});

const blockPlace = { height, hash, time: unixTime } as const;
const removal = object({
  ...reorgPlace,
  replacedBy: { ...nullable(object(blockPlace)), description: 'Block that is at this height now' },
});

export const blockRow = object(blockProperties);
export const blockDetail = object({
  ...blockProperties,
  previousHash: nullableHash,
  nextHash: nullableHash,
  merkleRoot: hash,
  chainWork: hash,
  chainStake: hash,
  bits: string,
  nonce: string,
  version: integer,
  fees: { ...coins, description: `${NETWORK_FEE} Of all transactions of the block` },
  feePool: { ...nullableCoins, description: 'Content of the fee pool after the block; null if the block has none' },
  finalizedHeight,
  confirmations: { ...integer, description: '−1 for a block that a reorganisation removed' },
  canonical: { ...boolean, description: 'Whether the block is part of the chain now' },
  removal: {
    ...nullable(removal),
    description: 'The last reorganisation that removed the block; null for a canonical block',
  },
  transactions: array(transactionSummary),
});

export const reorgRow = object({
  ...reorgPlace,
  chain: string,
  removed: array(object(blockPlace), 'Blocks that the reorganisation removed, lowest first, at most 100'),
  replacedBy: array(
    object({ ...blockPlace, canonical: boolean }),
    'Blocks that took their places, lowest first, at most 100; a later reorganisation may have removed them',
  ),
});
