/** Waiting transactions, newest first; computed on the first request after each change of the mempool. */
import type { MempoolJournal, WaitingTransaction } from './journal.ts';
import { conversionsOf, type UnconfirmedConversion } from './print-transaction.ts';

interface ConversionOfWaiting {
  readonly waiting: WaitingTransaction;
  readonly transfer: UnconfirmedConversion;
}

interface Newest {
  readonly version: string;
  readonly transactions: readonly WaitingTransaction[];
  readonly conversions: readonly ConversionOfWaiting[];
}

const made = new WeakMap<MempoolJournal, Newest>();

export function newestOf(journal: MempoolJournal): Newest {
  const known = made.get(journal);
  if (known?.version === journal.version) return known;
  const transactions = [...journal.waiting()].reverse();
  const conversions = transactions.flatMap((waiting) =>
    conversionsOf(waiting.transaction).map((transfer) => ({ waiting, transfer })),
  );
  const newest = { version: journal.version, transactions, conversions };
  made.set(journal, newest);
  return newest;
}
