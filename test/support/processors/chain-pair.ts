/** The recordings of a chain that launched another one, and of the launched chain. */

import type { ChainContext } from '../../../processors/state/chain-state.ts';
import type { TransferFact } from '../../../schemas/facts.ts';
import type { DaemonBlock } from '../../../schemas/verusd/block.ts';
import { frozenOnce } from './frozen.ts';
import { RECORDED_CHAIN, recordedLines } from './recorded-chain.ts';
import { foldChain, type RecordedFold } from './recorded-fold.ts';

export const PAIRED_CHAINS: Readonly<Record<'root' | 'pchain', ChainContext>> = {
  root: RECORDED_CHAIN,
  pchain: { name: 'pchain', nativeCurrencyId: 'iP1Gzozfm1VJg8NFH7zcBjbYmTW4UafYbV', networkRoot: 'VRSCTEST' },
};

type Side = keyof typeof PAIRED_CHAINS;

const blocksOf = (side: Side) =>
  frozenOnce(() => recordedLines<{ block: DaemonBlock }>(`../pbaas/${side}/blocks.jsonl.gz`).map(({ block }) => block));
const blocks = { root: blocksOf('root'), pchain: blocksOf('pchain') };

export const pairedBlocks = (side: Side): readonly DaemonBlock[] => blocks[side]();

/** One side of the pair, up to its recorded tip. */
export function foldPaired(side: Side): RecordedFold {
  return foldChain(pairedBlocks(side), PAIRED_CHAINS[side]);
}

/** The latest version of every transfer by `txid:vout`, in order of request. */
export function lastTransfers(fold: RecordedFold): Map<string, TransferFact> {
  const versions = fold.derived.flatMap(({ facts }) => facts.filter((fact) => fact.type === 'transfer'));
  return new Map(versions.map((transfer) => [`${transfer.txid}:${transfer.vout}`, transfer]));
}
