import { type Defined, defineFact } from './definition.ts';
import { choice, choices, hash, integer, nullable, satoshis, wideInteger } from './fields.ts';

export const TRANSACTION_TYPES = [
  'coinbase',
  'stake',
  'transfer',
  'conversion',
  'preconversion',
  'import',
  'export',
  'identity_registration',
  'identity_update',
  'name_commitment',
  'currency_definition',
  'notarization',
  'offer',
  'bridge',
  'burn',
  'mint',
  'shielded',
] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

export const TRANSACTION = defineFact({
  type: 'transaction',
  fields: {
    txid: hash(),
    txIndex: integer(),
    /** First match of `kinds`. */
    kind: choice(TRANSACTION_TYPES),
    /** Every kind that fits, in order of precedence. */
    kinds: choices(TRANSACTION_TYPES),
    /** Native; null for a coinbase and for an import, whose surplus is not a miner fee. */
    fee: nullable(satoshis()),
    /** Serialised bytes. */
    size: integer(),
    lockTime: wideInteger(),
    expiryHeight: integer(),
  },
  key: null,
  recalled: 'no',
  postgres: { life: 'event', table: 'transactions' },
  clickhouse: [
    {
      table: 'transactions',
      fields: ['txIndex', 'txid', 'kind', 'fee', 'size'],
      timed: true,
      audited: 'transactions',
    },
  ],
  published: true,
  checked: ['fee', 'size', 'lockTime', 'expiryHeight'],
});

export interface TransactionFact extends Defined<typeof TRANSACTION> {}
