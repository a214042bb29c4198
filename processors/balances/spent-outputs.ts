/** The outputs that a transaction spends, as they were made. */
import { PermanentError } from '../../schemas/errors.ts';
import type { DaemonTransaction } from '../../schemas/verusd/block.ts';
import type { ChainState, OutputState } from '../state/chain-state.ts';

/** The state lacks the output, which only a wrong log or a wrong preload can cause. */
export class UnknownOutputError extends PermanentError {
  constructor(spender: string, txid: string, n: number, chain: string) {
    super(
      'unknown_output',
      `chain ${chain}: transaction ${spender} spends ${txid}:${n}, which is not among the unspent outputs; ` +
        'rebuild the stores of this chain from its log',
    );
  }
}

/** In order of inputs, none for a coinbase. The block's own outputs must be applied to `state`, its spends not yet. */
export function spentOutputs(tx: DaemonTransaction, state: ChainState): OutputState[] {
  const spent: OutputState[] = [];
  for (const { txid, vout } of tx.vin) {
    if (txid === undefined || vout === undefined) continue;
    const output = state.output(txid, vout);
    if (!output) throw new UnknownOutputError(tx.txid, txid, vout, state.chain.name);
    spent.push(output);
  }
  return spent;
}
