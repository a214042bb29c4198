import { type Defined, defineFact } from './definition.ts';
import { hash, integer, json, list, nullable, satoshis, seconds, text } from './fields.ts';

const RESERVE = {
  currencyId: text(),
  /** 10^8 = 100 %. */
  weight: satoshis(),
  reserves: satoshis(),
  priceInReserve: satoshis(),
};

const reserves = list(RESERVE, { reserve_ids: 'currencyId', weights: 'weight', reserves: 'reserves' });

/** State of a currency after one import (the last one of a block counts for that height). */
export const CURRENCY_STATE = defineFact({
  type: 'currency_state',
  fields: {
    currencyId: text(),
    txid: hash(),
    vout: integer(),
    txIndex: integer(),
    flags: integer(),
    supply: satoshis(),
    reserves,
    /** Height of the first live state (confirmed and complete, neither prelaunch nor refunding); null before. */
    liveHeight: nullable(integer()),
    /** The `currencystate` object as the daemon printed it. */
    state: json(),
  },
  key: ['currencyId'],
  recalled: 'fact_and_height',
  postgres: { life: 'versions', table: 'currency_states', order: ['txIndex', 'vout'] },
  clickhouse: [
    {
      table: 'currency_states',
      fields: ['currencyId', 'txIndex', 'vout', 'flags', 'supply', 'reserves'],
      timed: true,
      audited: 'currency states',
    },
  ],
  published: true,
});

export interface CurrencyStateFact extends Defined<typeof CURRENCY_STATE> {}

/** State of a live basket after the last block of a 5-minute window; written by the block that opens the next window. */
export const RESERVE_SNAPSHOT = defineFact({
  type: 'reserve_snapshot',
  fields: {
    currencyId: text(),
    /** Start of the window, seconds since the epoch, a multiple of 300. */
    window: seconds(),
    /** Last block of the window. */
    stateHeight: integer(),
    supply: satoshis(),
    reserves,
  },
  key: null,
  recalled: 'no',
  postgres: null,
  clickhouse: [
    {
      table: 'reserve_snapshots',
      fields: ['currencyId', 'window', 'stateHeight', 'supply', 'reserves'],
      timed: false,
      audited: null,
    },
  ],
  published: true,
});

export interface ReserveSnapshotFact extends Defined<typeof RESERVE_SNAPSHOT> {}
