/** The recording of a chain that launched another one, and the launched one; folding of any blocks from genesis. */
import type { FactOf, FactType, TransferFact } from '../../schemas/facts.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import type { ChainContext } from '../chain-state.ts';
import { deriveBlock } from '../derive-block.ts';
import { createMemoryState } from '../memory-state.ts';
import { RECORDED_CHAIN, recordedLines } from './recorded-chain.ts';
import type { RecordedFold } from './recorded-fold.ts';

export const PAIRED_CHAINS: Readonly<Record<'root' | 'pchain', ChainContext>> = {
  root: RECORDED_CHAIN,
  pchain: { name: 'pchain', nativeCurrencyId: 'iP1Gzozfm1VJg8NFH7zcBjbYmTW4UafYbV', networkRoot: 'VRSCTEST' },
};

export function pairedBlocks(side: 'root' | 'pchain'): DaemonBlock[] {
  const lines = recordedLines<{ block: DaemonBlock }>(`../pbaas/${side}/blocks.jsonl.gz`);
  return lines.map(({ block }) => block);
}

/** One side of the pair, up to its recorded tip. */
export function foldPaired(side: 'root' | 'pchain'): RecordedFold {
  return foldChain(pairedBlocks(side), PAIRED_CHAINS[side]);
}

export function foldChain(blocks: readonly DaemonBlock[], chain: ChainContext): RecordedFold {
  const state = createMemoryState(chain);
  const derived = blocks.map((block) => ({ block, facts: deriveBlock(block, state) }));
  return {
    derived,
    state,
    all: <T extends FactType>(type: T) =>
      derived.flatMap(({ block, facts }) =>
        facts
          .filter((fact): fact is FactOf<T> => fact.type === type)
          .map((fact) => ({ ...fact, height: block.height })),
      ),
  };
}

/** The last version of every transfer by `txid:vout`, in order of request. */
export function lastTransfers(fold: RecordedFold): Map<string, TransferFact> {
  const versions = fold.derived.flatMap(({ facts }) => facts.filter((fact) => fact.type === 'transfer'));
  return new Map(versions.map((transfer) => [`${transfer.txid}:${transfer.vout}`, transfer]));
}
