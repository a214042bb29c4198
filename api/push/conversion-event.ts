/** Members of every event about a conversion, with or without a known value. */
import { conversionStatus } from '../../domain/transfers.ts';
import type { TransferSummary } from '../../schemas/log-records.ts';
import { coins, coinsOrNull } from '../http/values.ts';
import type { EventSubjects } from './push-event.ts';

export function conversionSubjects(transfer: TransferSummary): EventSubjects {
  const { fromCurrencyId, toCurrencyId, viaCurrencyId, source, destination, importCurrencyId } = transfer;
  return {
    currencies: [fromCurrencyId, toCurrencyId, viaCurrencyId].filter((id) => id !== null),
    basket: importCurrencyId,
    addresses: [source, destination].filter((address) => address !== null),
    status: conversionStatus(transfer.status),
  };
}

export function conversionMembers(transfer: TransferSummary): Readonly<Record<string, unknown>> {
  const { txid, vout, fromCurrencyId, toCurrencyId, viaCurrencyId, source, destination } = transfer;
  return {
    txid,
    vout,
    height: transfer.requestHeight,
    time: transfer.requestTime,
    status: conversionStatus(transfer.status),
    type: transfer.kind,
    fromCurrencyId,
    toCurrencyId,
    viaCurrencyId,
    amountIn: coins(transfer.amountIn),
    amountOut: coinsOrNull(transfer.amountOut),
    fee: coins(transfer.conversionFee),
    source,
    destination,
    exportTxid: transfer.exportTxid,
    exportVout: transfer.exportVout,
    exportIndex: transfer.exportIndex,
    sourceSystemId: transfer.sourceSystemId,
    importSystemId: transfer.importSystemId,
    importTxid: transfer.importTxid,
    importHeight: transfer.importHeight,
  };
}
