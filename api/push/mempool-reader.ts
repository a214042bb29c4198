/**
 * Sends one client of channel `mempool` a snapshot of all waiting transactions, then every change after it. There is no log to resume
 * from, so a client that falls too far behind, or reconnects, gets a new snapshot.
 */
import type { JournalChange, MempoolJournal, WaitingTransaction } from '../mempool/journal.ts';
import { outcomeAnswer, subjectsOf, transactionText } from '../mempool/print-transaction.ts';
import type { Hub } from './hub.ts';
import type { SubscriptionSet } from './subscription-set.ts';

export interface MempoolReader {
  /** Whether there is anything to send. */
  readonly isBehind: boolean;
  /** Starts over with the chains that are subscribed to now. */
  restart(): void;
  /** Sends until nothing is left, `end` has passed, or `goesOn` returns false; at least one message. */
  send(end: number, goesOn: () => boolean): void;
}

export interface MempoolReaderOptions {
  readonly journals: Iterable<MempoolJournal>;
  readonly wantsChain: (chain: string) => boolean;
  readonly wants: (chain: string, waiting: WaitingTransaction) => boolean;
  /** `data` is JSON text. */
  readonly write: (type: MempoolMessageType, chain: string, data: string) => void;
}

export type MempoolMessageType = 'mempool_snapshot' | 'mempool_tx' | 'mempool_gone';

/** Most transactions in a message of a snapshot, and characters above which no further transaction is added. */
const PART_TRANSACTIONS = 50;
const PART_CHARACTERS = 128 * 1024;

/** Fewest transactions that are matched with the filters before a part may end for lack of time. */
const LEAST_LOOKED = 20;
/** Value of `snapshotFrom` while nothing of the snapshot has been sent. */
const BEGINNING = -1;

interface Place {
  readonly journal: MempoolJournal;
  /** Number of the change up to which all changes have been sent, once the snapshot has been sent. */
  sent: number;
  /** Number from which on the snapshot at `sent` has still to be sent; null once it has been sent. */
  snapshotFrom: number | null;
}

/** Creates the reader of one connection. `say` adds `seq` and the cursor, which does not move: the mempool has no place in the log. */
export function mempoolFor(
  { mempools: journals, nativeIds }: Pick<Hub, 'mempools' | 'nativeIds'>,
  subscriptions: Pick<SubscriptionSet, 'coversMempool' | 'wantsWaiting'>,
  say: (members: string, type: MempoolMessageType) => void,
): MempoolReader {
  return createMempoolReader({
    journals,
    wantsChain: subscriptions.coversMempool,
    wants: (chain, { transaction }) =>
      subscriptions.wantsWaiting(chain, subjectsOf(transaction, nativeIds.get(chain) ?? '')),
    write: (type, chain, data) => say(`{"type":"${type}","chain":${JSON.stringify(chain)},"data":${data}`, type),
  });
}

export function createMempoolReader({ journals, wantsChain, wants, write }: MempoolReaderOptions): MempoolReader {
  let places: Place[] = [];

  const isBehind = ({ journal, sent, snapshotFrom }: Place): boolean =>
    journal.last !== null && wantsChain(journal.chain) && (snapshotFrom !== null || sent < journal.head);

  /** One message of the snapshot. */
  function sendPart(place: Place, end: number): void {
    const { journal } = place;
    const isFirst = place.snapshotFrom === BEGINNING;
    if (isFirst) place.sent = journal.head;
    const standing = journal.waitingAt(place.sent, place.snapshotFrom ?? 0);
    if (!standing) {
      place.snapshotFrom = BEGINNING; // the client is so slow that the snapshot must start again
      return;
    }
    const texts: string[] = [];
    let characters = 0;
    let looked = 0;
    let next: number | null = null;
    for (const waiting of standing) {
      const isFull = texts.length >= PART_TRANSACTIONS || characters >= PART_CHARACTERS;
      if (isFull || (looked >= LEAST_LOOKED && performance.now() >= end)) {
        next = waiting.number;
        break;
      }
      looked += 1;
      if (!wants(journal.chain, waiting)) continue;
      const text = transactionText(waiting);
      texts.push(text);
      characters += text.length;
    }
    place.snapshotFrom = next;
    const truncated = journal.last?.truncated === true;
    const members = `"first":${isFirst},"more":${next !== null},"truncated":${truncated}`;
    write('mempool_snapshot', journal.chain, `{"transactions":[${texts.join(',')}],${members}}`);
  }

  function sendChange({ journal }: Place, { kind, entry }: JournalChange): void {
    if (!wants(journal.chain, entry)) return;
    if (kind === 'waits') write('mempool_tx', journal.chain, transactionText(entry));
    else if (entry.outcome) {
      const { txid } = entry.transaction;
      write('mempool_gone', journal.chain, JSON.stringify({ txid, ...outcomeAnswer(entry.outcome) }));
    }
  }

  function sendPlace(place: Place, end: number, goesOn: () => boolean): void {
    while (place.snapshotFrom !== null) {
      sendPart(place, end);
      if (!goesOn() || performance.now() >= end) return;
    }
    const changes = place.journal.after(place.sent);
    if (!changes) {
      place.snapshotFrom = BEGINNING;
      return;
    }
    for (const change of changes) {
      place.sent = change.number;
      sendChange(place, change);
      if (!goesOn() || performance.now() >= end) return;
    }
  }

  return {
    get isBehind() {
      return places.some(isBehind);
    },
    restart() {
      places = [];
      for (const journal of journals) {
        if (!wantsChain(journal.chain)) continue;
        places.push({ journal, sent: 0, snapshotFrom: BEGINNING });
      }
    },
    send(end, goesOn) {
      for (const place of places) {
        if (!isBehind(place)) continue;
        sendPlace(place, end, goesOn);
        if (!goesOn() || performance.now() >= end) return;
      }
    },
  };
}
