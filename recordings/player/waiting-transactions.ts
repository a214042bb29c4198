/** Transactions that wait for a block: those that senders have put into the next one, and those that a reorganisation has put back. */
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

/** Made by the producer of a block, not by a sender; a definition opens threads of its own. */
const PROTOCOL = [
  'crosschainimport',
  'crosschainexport',
  'acceptednotarization',
  'earnednotarization',
  'finalizenotarization',
];

/** Transactions of a block, in the text of `getblock … 2`, that senders made. */
export function sentIn(text: string): readonly string[] {
  const { tx, validationtype } = JSON.parse(text) as PlainBlock;
  return tx.flatMap(({ txid, vin, vout }, index) => {
    const isProducers = vin[0]?.coinbase !== undefined || (validationtype === 'stake' && index === tx.length - 1);
    const has = (kind: string) => vout.some(({ scriptPubKey }) => kind in scriptPubKey);
    return isProducers || (PROTOCOL.some(has) && !has('currencydefinition')) ? [] : [txid];
  });
}

/** `isKnown`: whether the recording has the transaction by itself. */
export function createWaitingTransactions(
  recording: Recording,
  isKnown: (txid: string) => boolean,
): (view: RecordingView) => ReadonlySet<string> {
  const sent = new Map<RecordedBlock, readonly string[]>();
  const sentOf = (block: RecordedBlock): readonly string[] => {
    const known = sent.get(block) ?? sentIn(block.block()).filter(isKnown);
    sent.set(block, known);
    return known;
  };
  const heights = new Map(recording.main.flatMap(({ txids, height }) => txids.map((txid) => [txid, height] as const)));
  return (view) => {
    const isAhead = (txid: string) => (heights.get(txid) ?? Number.NEGATIVE_INFINITY) > view.height;
    const back = view.branch === 'main' && view.orphansKnown ? recording.orphans.flatMap(sentOf).filter(isAhead) : [];
    return new Set([...(view.next ? sentOf(view.next) : []), ...back]);
  };
}
