import { type Defined, defineFact } from './definition.ts';
import { choice, detail, hash, integer, nullable, numeral, satoshis, seconds, text, wideInteger } from './fields.ts';

const STAKE = {
  /** Stake transaction: the block's last. */
  txid: hash(),
  address: nullable(text()),
  rewardAddress: nullable(text()),
  sourceTxid: hash(),
  sourceVout: integer(),
  amount: satoshis(),
};

export const BLOCK = defineFact({
  type: 'block',
  fields: {
    hash: hash(),
    previousHash: nullable(hash()),
    /** Seconds since the epoch, as in the block; may step back. */
    time: seconds(),
    /** Running maximum of the chain's block times. */
    clock: seconds(),
    size: integer(),
    txCount: integer(),
    validationType: choice(['work', 'stake']),
    difficulty: numeral(),
    bits: text(),
    nonce: text(),
    version: wideInteger(),
    merkleRoot: hash(),
    chainWork: hash(),
    chainStake: hash(),
    /** Σ coinbase outputs without the fee pool. */
    reward: satoshis(),
    minerAddress: nullable(text()),
    /** Σ of the transactions' own fees. */
    fees: satoshis(),
    /** Native content of the coinbase's fee pool output; null where there is none. */
    feePool: nullable(satoshis()),
    /** Native coins in created outputs minus those in spent outputs; the sum up to a height is the transparent supply. */
    transparentChange: satoshis(),
    /** Native coins in shielded pools after the block; null when the daemon does not report them. */
    shieldedSupply: nullable(satoshis()),
    stake: nullable(detail(STAKE)),
  },
  key: null,
  recalled: 'no',
  postgres: { life: 'event', table: 'blocks' },
  clickhouse: [
    {
      table: 'blocks',
      fields: [
        'hash',
        'time',
        'clock',
        'size',
        'txCount',
        'validationType',
        'difficulty',
        'reward',
        'minerAddress',
        'fees',
        'stake.amount',
        'feePool',
        'transparentChange',
        'shieldedSupply',
      ],
      timed: false,
      audited: 'blocks',
    },
    {
      table: 'stakes',
      columns: ['time', 'txid', 'address', 'reward_address', 'amount'],
      *rows({ time, stake }) {
        if (stake) yield [time, stake.txid, stake.address ?? '', stake.rewardAddress ?? '', stake.amount];
      },
      audited: ['stakes'],
    },
  ],
  published: true,
  unsaid: { transparentChange: 0n, shieldedSupply: null },
});

export interface BlockFact extends Defined<typeof BLOCK> {}
export type StakeDetail = NonNullable<BlockFact['stake']>;
