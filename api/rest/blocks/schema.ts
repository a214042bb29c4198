/** Blocks and their lists. */

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
  difficulty: { type: 'number', description: 'Of the next proof of work that these bits ask for' },
  validationType: { type: 'string', enum: VALIDATION_TYPES },
  blockReward: { ...coins, description: 'What the coinbase pays, without the fee pool' },
  minerAddress: nullableString,
  stakeAmount: { ...nullableCoins, description: 'Coins that won the stake; null for proof of work' },
} as const;

const reorgPlace = {
  forkHeight: { ...height, description: 'Newest block that both branches have' },
  forkHash: hash,
  depth: { type: 'integer', minimum: 1, description: 'How many blocks it removed' },
  seenAt: {
    ...nullableInteger,
    description: 'Block time of the first block of the branch that won; null if none came',
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
  currencies: array(currencyAmount, 'The same of every other currency'),
});

const blockPlace = { height, hash, time: unixTime } as const;
const removal = object({
  ...reorgPlace,
  replacedBy: { ...nullable(object(blockPlace)), description: 'Block that stands at this height now' },
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
  feePool: { ...nullableCoins, description: 'Held by the fee pool after the block; null where there is none' },
  finalizedHeight,
  confirmations: { ...integer, description: '−1 of a block that a reorganisation removed' },
  canonical: { ...boolean, description: 'Whether the chain holds it now' },
  removal: {
    ...nullable(removal),
    description: 'Of a block that is not canonical: the reorganisation that removed it last',
  },
  transactions: array(transactionSummary),
});

export const reorgRow = object({
  ...reorgPlace,
  chain: string,
  removed: array(object(blockPlace), 'Blocks that it removed, lowest first, at most 100'),
  replacedBy: array(
    object({ ...blockPlace, canonical: boolean }),
    'Blocks that took their places, lowest first, at most 100; a later reorganisation may have removed them',
  ),
});
