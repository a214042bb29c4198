/** Blocks and their lists. */

import { TRANSACTION_TYPES } from '../../../schemas/facts.ts';
import {
  array,
  coins,
  finalizedHeight,
  hash,
  height,
  integer,
  nullableCoins,
  nullableHash,
  nullableString,
  object,
  string,
  unixTime,
} from '../../schema/json-schema.ts';

const blockProperties = {
  chain: string,
  height,
  hash,
  time: unixTime,
  txCount: integer,
  size: { type: 'integer', description: 'Bytes' },
  difficulty: { type: 'number', description: 'Of the next proof of work that these bits ask for' },
  validationType: { type: 'string', enum: ['work', 'stake'] },
  blockReward: { ...coins, description: 'What the coinbase pays, without the fee pool' },
  minerAddress: nullableString,
  stakeAmount: { ...nullableCoins, description: 'Coins that won the stake; null for proof of work' },
} as const;

const transactionSummary = object({
  txid: hash,
  type: { type: 'string', enum: TRANSACTION_TYPES },
  fee: nullableCoins,
  size: integer,
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
  fees: { ...coins, description: 'Paid by the transactions of this block' },
  feePool: { ...nullableCoins, description: 'Held by the fee pool after the block; null where there is none' },
  confirmations: integer,
  finalizedHeight,
  transactions: array(transactionSummary),
});
