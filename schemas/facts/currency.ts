import { type Defined, defineFact } from './definition.ts';
import { choice, hash, integer, json, nullable, text } from './fields.ts';

export const CURRENCY_TYPES = ['native', 'token', 'basket', 'pbaas_chain', 'gateway', 'mapped'] as const;
export type CurrencyType = (typeof CURRENCY_TYPES)[number];

export const CURRENCY = defineFact({
  type: 'currency',
  fields: {
    currencyId: text(),
    name: text(),
    /** As getcurrency prints it: `Bridge.vETH`, on the root chain without the root's name. */
    fullyQualifiedName: text(),
    parent: nullable(text()),
    systemId: text(),
    currencyType: choice(CURRENCY_TYPES),
    options: integer(),
    startBlock: integer(),
    txid: hash(),
    vout: integer(),
    txIndex: integer(),
    /** The `currencydefinition` object as the daemon printed it. */
    definition: json(),
  },
  key: ['currencyId'],
  recalled: 'fact',
  postgres: { life: 'versions', table: 'currencies', order: ['txIndex', 'vout'] },
  clickhouse: [],
  published: true,
});

export interface CurrencyFact extends Defined<typeof CURRENCY> {}
