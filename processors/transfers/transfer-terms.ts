/** Terms of a reserve transfer, read from the `reservetransfer` object of its output or of an incoming export. */
import { TRANSFER_FLAGS } from '../../domain/flags.ts';
import { coinsToSatoshis } from '../../domain/satoshi.ts';
import type { TransferKind } from '../../domain/transfers.ts';
import type { TransferFact } from '../../schemas/facts.ts';
import type { DaemonReserveTransfer, DaemonTransferDestination } from '../../schemas/verusd/conversion-objects.ts';
import { asFlags } from '../decoding/decoded-object.ts';
import { conversionFee } from './transfer-amounts.ts';

const { CONVERT, PRECONVERT, FEE_OUTPUT, MINT, CROSS_SYSTEM, BURN, IMPORT_TO_SOURCE, RESERVE_TO_RESERVE } =
  TRANSFER_FLAGS;

/** Added to a destination's type when the destination names a next system. */
const DESTINATION_NEXT_LEG = 128;

/** A longer text consists of raw bytes for another system; no one looks it up, and an index of the stores could not contain it. */
const LONGEST_DESTINATION = 1000;

export type TransferTerms = Pick<
  TransferFact,
  | 'kind'
  | 'flags'
  | 'fromCurrencyId'
  | 'toCurrencyId'
  | 'viaCurrencyId'
  | 'importCurrencyId'
  | 'amountIn'
  | 'transferFee'
  | 'transferFeeCurrencyId'
  | 'conversionFee'
  | 'destination'
  | 'destinationSystemId'
  | 'importSystemId'
>;

/** @throws RangeError when a value is not a valid amount */
export function transferTerms(transfer: DaemonReserveTransfer): TransferTerms {
  const { flags, destinationcurrencyid, destination, via } = transfer;
  const kind = transferKind(flags);
  const [[currencyId, coins] = [destinationcurrencyid, 0]] = Object.entries(transfer.currencyvalues);
  const amountIn = coinsToSatoshis(coins);
  const viaCurrencyId = kind === 'via' ? (via ?? null) : null;
  return {
    kind,
    flags: asFlags(flags),
    fromCurrencyId: kind === 'mint' ? null : currencyId,
    // A send names its destination (a system or its converter), not the currency that arrives there.
    toCurrencyId: kind === 'send' ? currencyId : destinationcurrencyid,
    viaCurrencyId,
    importCurrencyId: flags & IMPORT_TO_SOURCE ? currencyId : (viaCurrencyId ?? destinationcurrencyid),
    amountIn,
    transferFee: coinsToSatoshis(transfer.fees),
    transferFeeCurrencyId: transfer.feecurrencyid,
    conversionFee: flags & FEE_OUTPUT ? 0n : conversionFee(kind, amountIn),
    destination: destinationAddress(destination),
    destinationSystemId: transfer.exportto ?? nextSystem(destination),
    importSystemId: flags & CROSS_SYSTEM ? (transfer.exportto ?? null) : null,
  };
}

/** Terms of a transfer on its destination chain. @throws RangeError if an amount is invalid */
export function arrivedTerms(transfer: DaemonReserveTransfer): TransferTerms {
  return { ...transferTerms(transfer), destinationSystemId: nextSystem(transfer.destination), importSystemId: null };
}

function transferKind(flags: number): TransferKind {
  if (flags & MINT) return 'mint';
  if (flags & BURN) return 'burn';
  if (flags & PRECONVERT) return 'preconvert';
  if (flags & CONVERT) return flags & RESERVE_TO_RESERVE ? 'via' : 'convert';
  return 'send';
}

function destinationAddress({ address, identity }: DaemonTransferDestination): string | null {
  const text = typeof address === 'string' ? address : identity?.identityaddress;
  return text !== undefined && text.length <= LONGEST_DESTINATION ? text : null;
}

function nextSystem({ type, gateway }: DaemonTransferDestination): string | null {
  return type & DESTINATION_NEXT_LEG ? (gateway ?? null) : null;
}
