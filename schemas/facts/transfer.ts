import { TRANSFER_KINDS, TRANSFER_STATUSES } from '../../domain/transfers.ts';
import { type Defined, defineFact } from './definition.ts';
import { choice, hash, integer, nullable, satoshis, seconds, signedInteger, text } from './fields.ts';

/** Key of a transfer that came from another chain: txid of its export, vout = exportVout × ARRIVAL_PLACES + exportIndex. */
export const ARRIVAL_PLACES = 2 ** 16;

/** A reserve transfer with all that is known of it after the block; one version a block that changed it. */
export const TRANSFER = defineFact({
  type: 'transfer',
  fields: {
    /** Key: the output that asked for it; of one that came from another chain its place in the export, see ARRIVAL_PLACES. */
    txid: hash(),
    vout: integer(),
    kind: choice(TRANSFER_KINDS),
    status: choice(TRANSFER_STATUSES),
    flags: integer(),
    /** Null for a mint. */
    fromCurrencyId: nullable(text()),
    toCurrencyId: text(),
    viaCurrencyId: nullable(text()),
    /** The currency whose import executes it. */
    importCurrencyId: text(),
    /** Conversion fee inside, transfer fee outside. */
    amountIn: satoshis(),
    transferFee: satoshis(),
    transferFeeCurrencyId: text(),
    /** In the from currency, both legs of a via. */
    conversionFee: satoshis(),
    /** Null while pending and when refunded; 0 for a burn and for dust. */
    amountOut: nullable(satoshis()),
    destination: nullable(text()),
    /** First destination of the request's first spent output. */
    source: nullable(text()),
    /** Next system of a cross-chain send or next leg. */
    destinationSystemId: nullable(text()),
    /** Other system whose import executes it: its end is written there, not here. Null for what is executed here. */
    importSystemId: nullable(text()),
    /** Other system that it came from: its request stands there, not here. Null for what was asked for here. */
    sourceSystemId: nullable(text()),
    /** Block of the request; of one that came from another chain, of the import that brought it. */
    requestHeight: integer(),
    requestTime: seconds(),
    exportTxid: nullable(hash()),
    exportVout: nullable(signedInteger()),
    /** Place among the transfers of the export: with it the export names one transfer on both of its chains. */
    exportIndex: nullable(integer()),
    exportHeight: nullable(integer()),
    importTxid: nullable(hash()),
    importHeight: nullable(integer()),
    importTime: nullable(seconds()),
    /** Output of the import that paid it, or refunded it; null for a burn and for dust. */
    payoutVout: nullable(integer()),
    /** Why status is `unmatched`. */
    reason: nullable(text()),
  },
  key: ['txid', 'vout'],
  recalled: 'fact',
  postgres: { life: 'versions', table: 'transfers', order: [] },
  clickhouse: [],
  published: true,
  unsaid: { importSystemId: null, sourceSystemId: null, exportIndex: null },
});

export interface TransferFact extends Defined<typeof TRANSFER> {}
