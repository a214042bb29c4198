/** New reserve transfers, from the outputs that request them. */

import { SYSTEM_ADDRESSES } from '../../domain/system-addresses.ts';
import type { TransferFact } from '../../schemas/facts.ts';
import type { DaemonBlock, DaemonTransaction } from '../../schemas/verusd/block.ts';
import { conversionObject } from '../../schemas/verusd/conversion-objects.ts';
import { UnknownOutputError } from '../balances/spent-outputs.ts';
import type { ChainState } from '../state/chain-state.ts';
import { transferTerms } from './transfer-terms.ts';

/** Every reserve transfer that `tx` requests, in order of its outputs. The outputs that it spends must be in `state`. */
export function transferRequests(tx: DaemonTransaction, block: DaemonBlock, state: ChainState): TransferFact[] {
  return tx.vout.flatMap(({ n, scriptPubKey }): TransferFact[] => {
    const transfer = conversionObject(scriptPubKey, 'reservetransfer');
    if (!transfer) return [];
    return [
      {
        type: 'transfer',
        txid: tx.txid,
        vout: n,
        ...transferTerms(transfer),
        status: 'pending',
        amountOut: null,
        source: source(tx, state),
        sourceSystemId: null,
        requestHeight: block.height,
        requestTime: block.time,
        exportTxid: null,
        exportVout: null,
        exportIndex: null,
        exportHeight: null,
        importTxid: null,
        importHeight: null,
        importTime: null,
        payoutVout: null,
        reason: null,
      },
    ];
  });
}

/**
 * The object itself names no sender, so the sender is the first person whose coins are spent. A next leg, which an import makes, and a
 * shielded request, which spends no output, have no sender.
 */
function source(tx: DaemonTransaction, state: ChainState): string | null {
  const [first] = tx.vin;
  if (first?.txid === undefined || first.vout === undefined) return null;
  const spent = state.output(first.txid, first.vout);
  if (!spent) throw new UnknownOutputError(tx.txid, first.txid, first.vout, state.chain.name);
  if (spent.kind === 'crosschainimport') return null;
  return spent.addresses.find((address) => !SYSTEM_ADDRESSES.has(address)) ?? null;
}
