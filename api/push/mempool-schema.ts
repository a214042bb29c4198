/** `data` of the messages of channel `mempool`. */
import { GONE_REASONS } from '../../schemas/mempool.ts';
import { waitingTransaction } from '../mempool/transaction-schema.ts';
import { array, boolean, hash, nullableHash, nullableInteger, object } from '../schema/json-schema.ts';

export const mempoolSnapshotData = object({
  transactions: array(waitingTransaction, 'Waiting transactions that pass the filters; further parts have the others'),
  first: { ...boolean, description: 'The first part: forget all waiting transactions of this chain' },
  more: { ...boolean, description: 'Another part follows; no other message about this mempool comes before it' },
  truncated: { ...boolean, description: 'The daemon holds more transactions than this service shows' },
});

const outcomeMembers = {
  reason: { type: 'string', enum: GONE_REASONS },
  byTxid: {
    ...nullableHash,
    description:
      'conflicting: the mined transaction that spends what it, or a transaction that it builds on, spends; replaced: the waiting one',
  },
  height: {
    ...nullableInteger,
    description: 'Height of the block that contains it, or that contains the conflicting transaction',
  },
  hash: nullableHash,
} as const;

export const mempoolGoneData = object({ txid: hash, ...outcomeMembers });
