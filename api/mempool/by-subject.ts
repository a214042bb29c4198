/** Indexes waiting transactions by address and identity, on the first request after each change of the mempool. */
import type { MempoolJournal, WaitingTransaction } from './journal.ts';

interface Subjects {
  readonly version: string;
  readonly addresses: ReadonlyMap<string, readonly WaitingTransaction[]>;
  readonly identities: ReadonlyMap<string, readonly WaitingTransaction[]>;
}

const made = new WeakMap<MempoolJournal, Subjects>();

function subjectsOf(journal: MempoolJournal): Subjects {
  const known = made.get(journal);
  if (known?.version === journal.version) return known;
  const addresses = new Map<string, WaitingTransaction[]>();
  const identities = new Map<string, WaitingTransaction[]>();
  const add = (to: Map<string, WaitingTransaction[]>, subject: string, waiting: WaitingTransaction) => {
    const list = to.get(subject);
    if (!list) to.set(subject, [waiting]);
    else if (list.at(-1) !== waiting) list.push(waiting);
  };
  for (const waiting of journal.waiting()) {
    for (const { address } of waiting.transaction.activity) add(addresses, address, waiting);
    for (const { identityAddress } of waiting.transaction.identities) add(identities, identityAddress, waiting);
  }
  const subjects = { version: journal.version, addresses, identities };
  made.set(journal, subjects);
  return subjects;
}

/** Returns the waiting transactions of an address in order of arrival. */
export function waitingOfAddress(journal: MempoolJournal, address: string): readonly WaitingTransaction[] {
  return subjectsOf(journal).addresses.get(address) ?? [];
}

export function waitingOfIdentity(journal: MempoolJournal, identityAddress: string): readonly WaitingTransaction[] {
  return subjectsOf(journal).identities.get(identityAddress) ?? [];
}
