/** Rows of the stores back as facts: what a processor looks up must equal what it once made. */

import { parseReserves } from '../../domain/reserves.ts';
import type { OutputState } from '../../processors/chain-state.ts';
import type {
  CurrencyAmounts,
  CurrencyFact,
  CurrencyStateFact,
  ExportFact,
  IdentityFact,
  TransferFact,
} from '../../schemas/facts.ts';

/** A row as `pg` gives it: bigint for int8, hex for bytea, text for json. Its columns are those of the schema. */
export type StoredRow = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => value as string;
const textOrNull = (value: unknown): string | null => value as string | null;
const texts = (value: unknown): readonly string[] => value as readonly string[];
const integer = (value: unknown): number => Number(value);
const integerOrNull = (value: unknown): number | null => (value === null ? null : Number(value));
const amount = (value: unknown): bigint => value as bigint;
const amountOrNull = (value: unknown): bigint | null => value as bigint | null;

export function storedOutput(row: StoredRow): OutputState {
  return {
    txid: text(row.txid),
    n: integer(row.n),
    txIndex: integer(row.tx_index),
    value: amount(row.value),
    currencies: storedAmounts(textOrNull(row.currencies)),
    kind: text(row.kind),
    addresses: texts(row.addresses),
    data: textOrNull(row.data),
    height: integer(row.from_height),
  };
}

export function storedIdentity(row: StoredRow): IdentityFact {
  return {
    type: 'identity',
    identityAddress: text(row.identity_address),
    name: text(row.name),
    parent: text(row.parent),
    fullyQualifiedName: text(row.fully_qualified_name),
    txid: text(row.txid),
    vout: integer(row.vout),
    txIndex: integer(row.tx_index),
    kind: row.kind as IdentityFact['kind'],
    flags: integer(row.flags),
    timelock: integer(row.timelock),
    revocationAuthority: text(row.revocation_authority),
    recoveryAuthority: text(row.recovery_authority),
    primaryAddresses: texts(row.primary_addresses),
    minimumSignatures: integer(row.minimum_signatures),
    registeredHeight: integer(row.registered_height),
    referral: textOrNull(row.referral),
    registration: textOrNull(row.registration),
    contentHashes: textOrNull(row.content_hashes),
    changes: text(row.changes),
    state: text(row.state),
  };
}

export function storedCurrency(row: StoredRow): CurrencyFact {
  return {
    type: 'currency',
    currencyId: text(row.currency_id),
    name: text(row.name),
    fullyQualifiedName: text(row.fully_qualified_name),
    parent: textOrNull(row.parent),
    systemId: text(row.system_id),
    currencyType: row.currency_type as CurrencyFact['currencyType'],
    options: integer(row.options),
    startBlock: integer(row.start_block),
    txid: text(row.txid),
    vout: integer(row.vout),
    txIndex: integer(row.tx_index),
    definition: text(row.definition),
  };
}

export function storedCurrencyState(row: StoredRow): CurrencyStateFact & { readonly height: number } {
  return {
    type: 'currency_state',
    currencyId: text(row.currency_id),
    txid: text(row.txid),
    vout: integer(row.vout),
    txIndex: integer(row.tx_index),
    flags: integer(row.flags),
    supply: amount(row.supply),
    reserves: parseReserves(text(row.reserves)),
    liveHeight: integerOrNull(row.live_height),
    state: text(row.state),
    height: integer(row.from_height),
  };
}

export function storedTransfer(row: StoredRow): TransferFact {
  return {
    type: 'transfer',
    txid: text(row.txid),
    vout: integer(row.vout),
    kind: row.kind as TransferFact['kind'],
    status: row.status as TransferFact['status'],
    flags: integer(row.flags),
    fromCurrencyId: textOrNull(row.from_currency_id),
    toCurrencyId: text(row.to_currency_id),
    viaCurrencyId: textOrNull(row.via_currency_id),
    importCurrencyId: text(row.import_currency_id),
    amountIn: amount(row.amount_in),
    transferFee: amount(row.transfer_fee),
    transferFeeCurrencyId: text(row.transfer_fee_currency_id),
    conversionFee: amount(row.conversion_fee),
    amountOut: amountOrNull(row.amount_out),
    destination: textOrNull(row.destination),
    source: textOrNull(row.source),
    destinationSystemId: textOrNull(row.destination_system_id),
    importSystemId: textOrNull(row.import_system_id),
    sourceSystemId: textOrNull(row.source_system_id),
    requestHeight: integer(row.request_height),
    requestTime: integer(row.request_time),
    exportTxid: textOrNull(row.export_txid),
    exportVout: integerOrNull(row.export_vout),
    exportIndex: integerOrNull(row.export_index),
    exportHeight: integerOrNull(row.export_height),
    importTxid: textOrNull(row.import_txid),
    importHeight: integerOrNull(row.import_height),
    importTime: integerOrNull(row.import_time),
    payoutVout: integerOrNull(row.payout_vout),
    reason: textOrNull(row.reason),
  };
}

export function storedExport(row: StoredRow): ExportFact {
  return {
    type: 'export',
    txid: text(row.txid),
    vout: integer(row.vout),
    txIndex: integer(row.tx_index),
    currencyId: text(row.currency_id),
    sourceSystemId: text(row.source_system_id),
    destinationSystemId: text(row.destination_system_id),
    flags: integer(row.flags),
    rewardAddress: textOrNull(row.reward_address),
    transfers: JSON.parse(text(row.transfers)) as ExportFact['transfers'],
  };
}

const NOTHING: CurrencyAmounts = {};

function storedAmounts(json: string | null): CurrencyAmounts {
  if (json === null) return NOTHING;
  const amounts = JSON.parse(json) as Record<string, string>;
  return Object.fromEntries(Object.entries(amounts).map(([id, satoshis]) => [id, BigInt(satoshis)]));
}
