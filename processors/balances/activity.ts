/** Effect of each transaction on each address: gross, so that a payment to oneself shows on both sides. */
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { ActivityFact } from '../../schemas/facts.ts';
import type { DaemonTransaction } from '../../schemas/verusd/block.ts';
import type { BlockInput, ChainState, OutputState } from '../state/chain-state.ts';
import { spentOutputs } from './spent-outputs.ts';

interface Flow {
  received: bigint;
  sent: bigint;
}
interface Account extends Flow {
  readonly currencies: Record<string, Flow>;
}
type Side = keyof Flow;

/**
 * In order of transaction, then of first appearance (inputs before outputs). Every address of an output is credited with the
 * whole output, as in the daemon's address index. Genesis credits no address.
 */
export function deriveActivity(input: BlockInput, state: ChainState): ActivityFact[] {
  if (input.block.height === 0) return [];
  return input.block.tx.flatMap((tx, txIndex) => transactionActivity(tx, txIndex, state));
}

function transactionActivity(tx: DaemonTransaction, txIndex: number, state: ChainState): ActivityFact[] {
  const accounts = new Map<string, Account>();
  for (const output of spentOutputs(tx, state)) book(accounts, output, 'sent');
  for (const { n } of tx.vout) {
    const output = state.output(tx.txid, n);
    if (output) book(accounts, output, 'received');
  }
  return Array.from(accounts, ([address, { received, sent, currencies }]) => ({
    type: 'activity',
    address,
    txid: tx.txid,
    txIndex,
    received,
    sent,
    currencies,
  }));
}

function book(accounts: Map<string, Account>, output: OutputState, side: Side): void {
  for (const address of output.addresses) {
    const account = getOrInsert(accounts, address, () => ({ received: 0n, sent: 0n, currencies: {} }));
    account[side] += output.value;
    for (const currencyId in output.currencies) {
      account.currencies[currencyId] ??= { received: 0n, sent: 0n };
      account.currencies[currencyId][side] += output.currencies[currencyId] ?? 0n;
    }
  }
}
