/**
 * Transactions that wait for a block: those of the next block that senders made, and those that a reorganisation has removed from a block.
 */
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { RecordingView } from './chain-view.ts';
import type { RecordedBlock, Recording } from './recording.ts';

interface PlainBlock {
  readonly validationtype: string;
  readonly tx: readonly {
    readonly txid: string;
    readonly vin: readonly { readonly coinbase?: string }[];
    readonly vout: readonly { readonly scriptPubKey: Readonly<Record<string, unknown>> }[];
  }[];
}

/** Outputs made by the producer of a block, not by a sender; a transaction that defines a currency contains some of its own. */
const PROTOCOL = [
  'crosschainimport',
  'crosschainexport',
  'acceptednotarization',
  'earnednotarization',
  'finalizenotarization',
];

/** Returns the transactions of a block that senders made; `text` is the result of `getblock … 2`. */
export function sentIn(text: string): readonly string[] {
  const { tx, validationtype } = JSON.parse(text) as PlainBlock;
  return tx.flatMap(({ txid, vin, vout }, index) => {
    const isProducers = vin[0]?.coinbase !== undefined || (validationtype === 'stake' && index === tx.length - 1);
    const has = (kind: string) => vout.some(({ scriptPubKey }) => kind in scriptPubKey);
    return isProducers || (PROTOCOL.some(has) && !has('currencydefinition')) ? [] : [txid];
  });
}

/** `isKnown`: whether the recording has the transaction on its own, not only inside its block. */
export function createWaitingTransactions(
  recording: Recording,
  isKnown: (txid: string) => boolean,
): (view: RecordingView) => ReadonlySet<string> {
  const sent = new Map<RecordedBlock, readonly string[]>();
  const sentOf = (block: RecordedBlock) => getOrInsert(sent, block, () => sentIn(block.block()).filter(isKnown));
  const heights = new Map(recording.main.flatMap(({ txids, height }) => txids.map((txid) => [txid, height] as const)));
  return (view) => {
    const isAhead = (txid: string) => (heights.get(txid) ?? Number.NEGATIVE_INFINITY) > view.height;
    const back = view.branch === 'main' && view.orphansKnown ? recording.orphans.flatMap(sentOf).filter(isAhead) : [];
    return new Set([...(view.next ? sentOf(view.next) : []), ...back]);
  };
}
