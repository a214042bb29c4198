/**
 * What one client of channel `mempool` gets: all that waits at a moment, then every change after it. There is no log to resume from, so a
 * client that falls too far behind, or reconnects, gets all that waits again.
 */
import type { JournalChange, MempoolJournal, WaitingTransaction } from '../mempool/journal.ts';
import { outcomeAnswer, subjectsOf, transactionText } from '../mempool/print-transaction.ts';
import type { Hub } from './hub.ts';
import type { SubscriptionSet } from './subscription-set.ts';

export interface MempoolReader {
  /** Whether there is anything to send. */
  readonly isBehind: boolean;
  /** Starts over, with the chains that are subscribed to now. */
  restart(): void;
  /** Sends until nothing is left, `end` is past, or `goesOn` is false; at least one message. */
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

/** Most transactions in a message of a snapshot, and characters above which no further one is added. */
const PART_TRANSACTIONS = 50;
const PART_CHARACTERS = 128 * 1024;

/** Transactions that are held against the filters in any case before a part ends. */
const LEAST_LOOKED = 20;
/** Place of a snapshot of which nothing has been sent. */
const BEGINNING = -1;

interface Place {
  readonly journal: MempoolJournal;
  /** All changes up to here have been sent, once the snapshot has. */
  sent: number;
  /** Number from which on the snapshot at `sent` is still to be sent; null once it has been. */
  snapshotFrom: number | null;
}

/** Mempools for one connection; `say` adds number and cursor, which does not move, since what waits has no place in the log. */
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
      place.snapshotFrom = BEGINNING; // so slow that it has to begin again
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
