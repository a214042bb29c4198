/** One row per transaction: kind, fee and size. */
import type { TransactionFact } from '../../schemas/facts.ts';
import type { DaemonTransaction } from '../../schemas/verusd/block.ts';
import { spentOutputs } from '../balances/spent-outputs.ts';
import { asObject, asSatoshis } from '../decoding/decoded-object.ts';
import { isIncomplete } from '../faults/redact.ts';
import type { BlockInput, ChainState } from '../state/chain-state.ts';
import { transactionKinds } from './transaction-kinds.ts';
import { transactionSize } from './transaction-size.ts';

/** In order of the block. The block's outputs must be applied to `state`, its spends not yet. */
export function deriveTransactions(input: BlockInput, state: ChainState): TransactionFact[] {
  const { tx: transactions, validationtype } = input.block;
  return transactions.map((tx, txIndex) => {
    const isCoinbase = tx.vin[0]?.coinbase !== undefined;
    const isStake = !isCoinbase && validationtype === 'stake' && txIndex === transactions.length - 1;
    const kinds = transactionKinds(tx, { isCoinbase, isStake });
    const [kind = 'transfer'] = kinds;
    return {
      type: 'transaction',
      txid: tx.txid,
      txIndex,
      kind,
      kinds,
      // The surplus of an import consists of its transfers' fees and burns, which are accounted for elsewhere.
      fee: kind === 'coinbase' || kind === 'import' || isIncomplete(tx) ? null : transactionSurplus(tx, state),
      size: transactionSize(tx),
      lockTime: tx.locktime,
      expiryHeight: tx.expiryheight ?? 0,
    };
  });
}

/** Native coins of the inputs (transparent, or out of a shielded pool) minus those of the outputs. */
export function transactionSurplus(tx: DaemonTransaction, state: ChainState): bigint {
  let total = asSatoshis(tx.valueBalance) ?? 0n;
  for (const output of spentOutputs(tx, state)) total += output.value;
  for (const { n } of tx.vout) total -= state.output(tx.txid, n)?.value ?? 0n;
  for (const joinsplit of tx.vjoinsplit ?? []) {
    const { vpub_new: leaves, vpub_old: enters } = asObject(joinsplit) ?? {};
    total += (asSatoshis(leaves) ?? 0n) - (asSatoshis(enters) ?? 0n);
  }
  return total;
}
