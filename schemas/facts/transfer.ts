import { TRANSFER_KINDS, TRANSFER_STATUSES } from '../../domain/transfers.ts';
import { type Defined, defineFact } from './definition.ts';
import { choice, hash, integer, nullable, satoshis, seconds, signedInteger, text } from './fields.ts';

/** Key of a transfer that came from another chain: txid of its export, vout = exportVout × ARRIVAL_PLACES + exportIndex. */
export const ARRIVAL_PLACES = 2 ** 16;

/** A reserve transfer with everything known about it after the block; one version per block that changed it. */
export const TRANSFER = defineFact({
  type: 'transfer',
  fields: {
    /** Key: the output that requested it; for a transfer from another chain its place in the export, see ARRIVAL_PLACES. */
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
    /** Includes the conversion fee, but not the transfer fee. */
    amountIn: satoshis(),
    transferFee: satoshis(),
    transferFeeCurrencyId: text(),
    /** In the from currency, both legs of a via. */
    conversionFee: satoshis(),
    /** Null while pending and when refunded; 0 for a burn and for dust. */
    amountOut: nullable(satoshis()),
    /** Null when it is no text or longer than any address: see processors/transfers/transfer-terms.ts. */
    destination: nullable(text()),
    /** First destination of the request's first spent output. */
    source: nullable(text()),
    /** Next system of a cross-chain send or next leg. */
    destinationSystemId: nullable(text()),
    /** The other system whose import executes it and which therefore has its outcome. Null when this chain executes it. */
    importSystemId: nullable(text()),
    /** The other system that it came from and which therefore has its request. Null when it was requested on this chain. */
    sourceSystemId: nullable(text()),
    /** Block of the request; for a transfer from another chain, block of the import that brought it. */
    requestHeight: integer(),
    requestTime: seconds(),
    exportTxid: nullable(hash()),
    exportVout: nullable(signedInteger()),
    /** Place among the transfers of the export; export and place identify a transfer on both of its chains. */
    exportIndex: nullable(integer()),
    exportHeight: nullable(integer()),
    importTxid: nullable(hash()),
    importHeight: nullable(integer()),
    importTime: nullable(seconds()),
    /** Output of the import that paid or refunded it; null for a burn and for dust. */
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
