/** Filters the messages of a fetch that a reader may see: no control records and none of aborted transactions. */
import type { AbortedTransaction, FetchedMessage } from './topic-leader.ts';

const ABORT_MARKER = 0;

/**
 * Replaces the filter of kafkajs, which starts only one aborted transaction per message and so lets the second of two through when a
 * fetch begins inside both. The key of a control record is its version and type, two bytes each.
 */
export function committedMessages(
  messages: readonly FetchedMessage[],
  abortedTransactions: readonly AbortedTransaction[],
): FetchedMessage[] {
  const waiting = abortedTransactions
    .map(({ producerId, firstOffset }) => ({ producerId, firstOffset: BigInt(firstOffset) }))
    .sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1));
  const aborted = new Set<string>();
  return messages.filter(({ offset, key, isControlRecord, producerId, inTransaction }) => {
    while (waiting[0] && waiting[0].firstOffset <= BigInt(offset)) aborted.add(waiting.shift()?.producerId ?? '');
    if (!isControlRecord) return !(inTransaction && aborted.has(producerId));
    if (key?.readInt16BE(2) === ABORT_MARKER) aborted.delete(producerId);
    return false;
  });
}
