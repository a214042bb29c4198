/** Transfers that another chain exported and this one executes: they were requested there, so on this chain they begin here. */
import { ARRIVAL_PLACES, type TransferFact } from '../../schemas/facts.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import type { DaemonImport, DaemonReserveTransfer } from '../../schemas/verusd/conversion-objects.ts';
import { arrivedTerms } from './transfer-terms.ts';

/** An export beyond output 32,767 still gets a vout that the stores can hold. */
const VOUTS = 2 ** 31;

/** The transfer at `index` of the export that `imported` names, before its outcome is known. @throws RangeError like arrivedTerms */
export function arrival(
  transfer: DaemonReserveTransfer,
  index: number,
  { exporttxid, exporttxout, sourcesystemid }: DaemonImport,
  block: DaemonBlock,
): TransferFact {
  return {
    type: 'transfer',
    txid: exporttxid,
    vout: (exporttxout * ARRIVAL_PLACES + index) % VOUTS,
    ...arrivedTerms(transfer),
    status: 'exported',
    amountOut: null,
    // Only the other chain knows the sender.
    source: null,
    sourceSystemId: sourcesystemid,
    requestHeight: block.height,
    requestTime: block.time,
    exportTxid: exporttxid,
    exportVout: exporttxout,
    exportHeight: null,
    exportIndex: index,
    importTxid: null,
    importHeight: null,
    importTime: null,
    payoutVout: null,
    reason: null,
  };
}
