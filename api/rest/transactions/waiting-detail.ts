/** An unconfirmed transaction in the format of a confirmed one. */
import { parseShallow } from '../../../domain/json/shallow-json.ts';
import { coins, coinsOrNull } from '../../http/values.ts';
import type { WaitingTransaction } from '../../mempool/journal.ts';
import { transactionAnswer } from '../../mempool/print-transaction.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import { currencyAmounts } from './amounts.ts';

export function waitingDetail(
  waiting: WaitingTransaction,
  chain: string,
  finalizedHeight: number,
  currencies: Currencies,
) {
  const { transaction, seenAt } = waiting;
  return {
    chain,
    txid: transaction.txid,
    height: null,
    blockHash: null,
    time: seenAt,
    confirmations: 0,
    finalizedHeight,
    type: transaction.kind,
    types: transaction.kinds,
    isCoinbase: false,
    fee: coinsOrNull(transaction.fee),
    size: transaction.size,
    lockTime: transaction.lockTime,
    expiryHeight: transaction.expiryHeight,
    inputs: transaction.inputs.map(({ txid, n: vout, spent }) => ({
      txid,
      vout,
      addresses: spent?.addresses ?? [],
      value: coinsOrNull(spent?.value ?? null),
      currencies: currencyAmounts(Object.entries(spent?.currencies ?? {}), currencies),
    })),
    outputs: transaction.outputs.map((output) => ({
      n: output.n,
      value: coins(output.value),
      addresses: output.addresses,
      kind: output.kind,
      currencies: currencyAmounts(Object.entries(output.currencies), currencies),
      spentTxid: null,
      data: output.data === null ? null : parseShallow(output.data),
    })),
    conversions: [],
    unconfirmed: transactionAnswer(waiting),
  };
}
