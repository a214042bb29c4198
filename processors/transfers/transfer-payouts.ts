/** Prices, incoming transfers and payouts of an import, read from its transaction. */
import { isFractional } from '../../domain/basket-liveness.ts';
import { coinsToSatoshis } from '../../domain/satoshi.ts';
import type { DaemonOutput, DaemonTransaction } from '../../schemas/verusd/block.ts';
import {
  conversionObject,
  type DaemonCurrencyState,
  type DaemonImport,
  type DaemonReserveTransfer,
} from '../../schemas/verusd/conversion-objects.ts';
import { decodeOutput, outputKind } from '../decoding/decode-output.ts';
import type { ImportPrices } from './transfer-amounts.ts';
import { transferTerms } from './transfer-terms.ts';

/** Kinds of outputs allowed between an import and its payouts. */
const HEADER_KINDS = new Set([
  'crosschainimport',
  'acceptednotarization',
  'earnednotarization',
  'notaryevidence',
  'crosschainexport',
]);

/** The parts of an import's output that pairing reads. */
export interface Payout {
  readonly vout: number;
  /** Satoshis by currency, the native coin under its own id; without the fee of a next leg, without zeros. */
  readonly amounts: ReadonlyMap<string, bigint>;
  readonly addresses: readonly string[];
  /** A new reserve transfer that carries the payout on to another system. */
  readonly isNextLeg: boolean;
}

export interface ImportContents {
  /** Null if the import has no notarization of its currency: the imports of a chain's first block. */
  readonly prices: ImportPrices | null;
  /** Transfers of another chain's export, in its order. */
  readonly incoming: readonly DaemonReserveTransfer[];
  /** In order: one or none per transfer, then launch payouts, fees and carve-outs. */
  readonly payouts: readonly Payout[];
}

/** Reads the import whose output is `vout` of `tx`. @throws RangeError when a value is not a valid amount */
export function readImport(
  tx: DaemonTransaction,
  vout: number,
  imported: DaemonImport,
  nativeCurrencyId: string,
): ImportContents {
  let end = vout + 1;
  for (let next = tx.vout[end]; next && HEADER_KINDS.has(outputKind(next.scriptPubKey)); next = tx.vout[end]) end++;
  const header = tx.vout.slice(vout + 1, end);
  const state = header
    .map(({ scriptPubKey }) => conversionObject(scriptPubKey, 'acceptednotarization'))
    .find((notarization) => notarization?.currencyid === imported.importcurrencyid)?.currencystate;
  return {
    prices: state ? importPrices(state) : null,
    incoming: header.flatMap((output) => conversionObject(output.scriptPubKey, 'crosschainexport')?.transfers ?? []),
    payouts: tx.vout.slice(end, end + imported.numoutputs).map((output) => payout(output, nativeCurrencyId)),
  };
}

export function importPrices(state: DaemonCurrencyState): ImportPrices {
  const price = new Map<string, bigint>();
  const viaPrice = new Map<string, bigint>();
  for (const [currencyId, reserve] of Object.entries(state.currencies ?? {})) {
    price.set(currencyId, coinsToSatoshis(reserve.lastconversionprice));
    viaPrice.set(currencyId, coinsToSatoshis(reserve.viaconversionprice));
  }
  return { importCurrencyId: state.currencyid, isBasket: isFractional(state.flags), price, viaPrice };
}

function payout(output: DaemonOutput, nativeCurrencyId: string): Payout {
  const nextLeg = conversionObject(output.scriptPubKey, 'reservetransfer');
  if (nextLeg) {
    const { fromCurrencyId, toCurrencyId, amountIn, destination } = transferTerms(nextLeg);
    const amounts = nonZero([[fromCurrencyId ?? toCurrencyId, amountIn]]);
    return { vout: output.n, amounts, addresses: destination === null ? [] : [destination], isNextLeg: true };
  }
  const { value, currencies, addresses } = decodeOutput(output, nativeCurrencyId);
  const amounts = nonZero([[nativeCurrencyId, value], ...Object.entries(currencies)]);
  return { vout: output.n, amounts, addresses, isNextLeg: false };
}

function nonZero(amounts: readonly (readonly [string, bigint])[]): Map<string, bigint> {
  return new Map(amounts.filter(([, amount]) => amount !== 0n));
}
