/** `data` of the messages of channel `mempool`. */
import { GONE_REASONS } from '../../schemas/mempool.ts';
import { waitingTransaction } from '../mempool/transaction-schema.ts';
import { array, boolean, hash, nullableHash, nullableInteger, object } from '../schema/json-schema.ts';

export const mempoolSnapshotData = object({
  transactions: array(
    waitingTransaction,
    'Of those that wait and pass the filters: these, and those of the parts to come',
  ),
  first: { ...boolean, description: 'The first part: forget all that waited on this chain' },
  more: { ...boolean, description: 'Another part follows; until then nothing else is sent of this mempool' },
  truncated: { ...boolean, description: 'The daemon holds more than this service shows' },
});

const outcomeMembers = {
  reason: { type: 'string', enum: GONE_REASONS },
  byTxid: {
    ...nullableHash,
    description:
      'conflicting: the mined transaction that spends what it, or one that it builds on, spends; replaced: the waiting one',
  },
  height: { ...nullableInteger, description: 'Of the block that holds it, or the conflicting one' },
  hash: nullableHash,
} as const;

export const mempoolGoneData = object({ txid: hash, ...outcomeMembers });
