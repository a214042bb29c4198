import { type Defined, defineFact } from './definition.ts';
import { type CurrencyFlows, flows, hash, integer, satoshis, text } from './fields.ts';

/** The effect of one transaction on one address. */
export const ACTIVITY = defineFact({
  type: 'activity',
  fields: {
    address: text(),
    txid: hash(),
    txIndex: integer(),
    /** Native, gross. */
    received: satoshis(),
    sent: satoshis(),
    /** All other currencies; Postgres keeps the net amount, ClickHouse both sides. */
    currencies: flows(),
  },
  key: null,
  recalled: 'no',
  postgres: { life: 'event', table: 'address_activity' },
  clickhouse: [
    {
      table: 'address_deltas',
      columns: ['address', 'currency_id', 'tx_index', 'time', 'txid', 'received', 'sent'],
      *rows(fact, { time, nativeCurrencyId }) {
        for (const [currencyId, { received, sent }] of deltas(fact, nativeCurrencyId)) {
          yield [fact.address, currencyId, fact.txIndex, time, fact.txid, received, sent];
        }
      },
      audited: ['native deltas', 'token deltas'],
    },
  ],
  published: true,
  checked: ['received', 'sent', 'currencies'],
});

export interface ActivityFact extends Defined<typeof ACTIVITY> {}

type Flow = CurrencyFlows[string];

/** One entry per currency that moved; an activity that moved nothing (an identity's output) still has its native entry. */
function deltas(fact: Flow & { readonly currencies: CurrencyFlows }, nativeCurrencyId: string): [string, Flow][] {
  const tokens = Object.entries(fact.currencies);
  const native: [string, Flow] = [nativeCurrencyId, fact];
  return fact.received || fact.sent || tokens.length === 0 ? [native, ...tokens] : tokens;
}
