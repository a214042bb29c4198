/** Sets the spender of each output to what the daemon would have printed at an earlier tip or on the abandoned branch. */
import { rawMember } from '../../domain/json/raw-json.ts';
import type { RecordingView } from './chain-view.ts';
import { type MemberPair, mapElements, printPairs, readPairs } from './members.ts';
import type { RecordedBlock } from './recording.ts';

/** The last three members of a spent output. Height -1 means that the spending transaction is not in a block yet. */
const SPENT = /,"spentTxId":"[0-9a-f]{64}","spentIndex":\d+,"spentHeight":(-?\d+)/g;

interface Spend {
  readonly txid: string;
  readonly index: number;
  readonly height: number;
}

interface SpendingBlock {
  readonly tx: readonly {
    readonly txid: string;
    readonly vin: readonly { readonly txid?: string; readonly vout?: number }[];
  }[];
}

function spendsOf(blocks: readonly RecordedBlock[]): Map<string, Spend> {
  const spends = new Map<string, Spend>();
  for (const block of blocks) {
    const { tx } = JSON.parse(block.block()) as SpendingBlock;
    for (const { txid, vin } of tx) {
      vin.forEach((input, index) => {
        if (input.txid !== undefined) {
          spends.set(`${input.txid}:${input.vout}`, { txid, index, height: block.height });
        }
      });
    }
  }
  return spends;
}

/** Changes the text of a recorded transaction to the text at the tip of `view`. */
export type SpentAsOf = (view: RecordingView, transaction: string) => string;

export function createSpentAsOf(orphans: readonly RecordedBlock[]): SpentAsOf {
  let orphanSpends: Map<string, Spend> | undefined;

  const upTo = (height: number, transaction: string) =>
    transaction.replace(SPENT, (spent, at: string) => (Number(at) >= 0 && Number(at) <= height ? spent : ''));

  function onOrphanBranch(view: RecordingView, transaction: string): string {
    orphanSpends ??= spendsOf(orphans);
    const spends = orphanSpends;
    const shared = upTo(view.sharedHeight, transaction);
    const pairs = readPairs(shared);
    const txid = JSON.parse(rawMember(shared, 'txid') ?? 'null') as string;
    const output = (text: string, n: number): string => {
      const spend = spends.get(`${txid}:${n}`);
      if (spend === undefined || spend.height > view.height) return text;
      const members: MemberPair[] = [
        ...readPairs(text),
        ['spentTxId', `"${spend.txid}"`],
        ['spentIndex', String(spend.index)],
        ['spentHeight', String(spend.height)],
      ];
      return printPairs(members);
    };
    return printPairs(pairs.map(([key, value]) => [key, key === 'vout' ? mapElements(value, output) : value] as const));
  }

  return (view, transaction) => {
    if (view.atRecordedTip) return transaction;
    if (view.branch === 'orphan' && view.height > view.sharedHeight) return onOrphanBranch(view, transaction);
    return upTo(view.height, transaction);
  };
}
