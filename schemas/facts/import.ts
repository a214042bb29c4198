import { type Defined, defineFact } from './definition.ts';
import { hash, integer, signedInteger, text } from './fields.ts';

export const IMPORT = defineFact({
  type: 'import',
  fields: {
    txid: hash(),
    vout: integer(),
    txIndex: integer(),
    currencyId: text(),
    sourceSystemId: text(),
    exportTxid: hash(),
    /** −1 for an import that no export brought. */
    exportVout: signedInteger(),
    flags: integer(),
  },
  key: null,
  recalled: 'no',
  postgres: { life: 'event', table: 'imports' },
  clickhouse: [],
  published: false,
});

export interface ImportFact extends Defined<typeof IMPORT> {}
