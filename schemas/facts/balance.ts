import { type Defined, defineFact } from './definition.ts';
import { satoshis, sum, text } from './fields.ts';

/** Balance of an address after the block. */
export const BALANCE = defineFact({
  type: 'balance',
  fields: {
    address: text(),
    /** The native coin under its own id. */
    currencyId: text(),
    balance: satoshis(),
    /** Total amount ever received. */
    received: sum(),
  },
  key: ['address', 'currencyId'],
  recalled: 'fact',
  postgres: { life: 'series', table: 'balances', rows: 'balance_versions', newest: 'newest_balances' },
  clickhouse: [],
  published: false,
  checked: ['balance'],
});

export interface BalanceFact extends Defined<typeof BALANCE> {}
