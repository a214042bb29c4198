import { type Defined, defineFact } from './definition.ts';
import { hash, integer, list, nullable, text } from './fields.ts';

export const EXPORT = defineFact({
  type: 'export',
  fields: {
    txid: hash(),
    vout: integer(),
    txIndex: integer(),
    currencyId: text(),
    sourceSystemId: text(),
    destinationSystemId: text(),
    flags: integer(),
    rewardAddress: nullable(text()),
    /** Keys of the transfers that it gathers, in order. */
    transfers: list({ txid: hash(), vout: integer() }),
  },
  key: ['txid', 'vout'],
  recalled: 'fact',
  postgres: { life: 'event', table: 'exports' },
  clickhouse: [],
  published: false,
});

export interface ExportFact extends Defined<typeof EXPORT> {}
