import { type Defined, defineFact } from './definition.ts';
import { choice, hash, integer, satoshis, text } from './fields.ts';

/** A coinbase output that pays an address. */
export const REWARD = defineFact({
  type: 'reward',
  fields: {
    address: text(),
    txid: hash(),
    vout: integer(),
    kind: choice(['mining', 'staking']),
    amount: satoshis(),
  },
  key: null,
  recalled: 'no',
  postgres: { life: 'event', table: 'rewards' },
  clickhouse: [],
  published: false,
});

export interface RewardFact extends Defined<typeof REWARD> {}
