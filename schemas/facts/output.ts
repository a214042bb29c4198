import { type Defined, defineFact } from './definition.ts';
import { amounts, hash, integer, json, nullable, satoshis, text, texts } from './fields.ts';

export const OUTPUT = defineFact({
  type: 'output',
  fields: {
    txid: hash(),
    txIndex: integer(),
    n: integer(),
    value: satoshis(),
    currencies: amounts(),
    /** The decoded kind's key (`reservetransfer`, `identityprimary` …), else the script type (`pubkeyhash` …). */
    kind: text(),
    addresses: texts(),
    /** Decoded object as the daemon printed it, null for plain scripts. */
    data: nullable(json()),
  },
  key: ['txid', 'n'],
  recalled: 'fact_and_height',
  postgres: { life: 'ending', table: 'outputs' },
  clickhouse: [],
  published: false,
  checked: ['kind', 'currencies'],
});

export interface OutputFact extends Defined<typeof OUTPUT> {}

export const SPEND = defineFact({
  type: 'spend',
  fields: {
    /** The output that is spent. */
    txid: hash(),
    n: integer(),
    spentTxid: hash(),
    spentIndex: integer(),
  },
  key: ['txid', 'n'],
  recalled: 'no',
  postgres: { life: 'end', of: OUTPUT.type },
  clickhouse: [],
  published: false,
  checked: [],
});

export interface SpendFact extends Defined<typeof SPEND> {}
