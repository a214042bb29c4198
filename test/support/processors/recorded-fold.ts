/** Chains, derived block by block from genesis. */

import { deriveBlock } from '../../../processors/derive-block.ts';
import type { ChainContext, ChainState } from '../../../processors/state/chain-state.ts';
import { createMemoryState } from '../../../processors/state/memory-state.ts';
import type { Fact, FactOf, FactType } from '../../../schemas/facts.ts';
import type { DaemonBlock } from '../../../schemas/verusd/block.ts';
import { frozenOnce } from './frozen.ts';
import { RECORDED_CHAIN, recordedBlocks } from './recorded-chain.ts';

export interface FoldedBlock {
  readonly block: DaemonBlock;
  readonly facts: readonly Fact[];
}

export interface RecordedFold {
  readonly derived: readonly FoldedBlock[];
  /** State after the last block. */
  readonly state: ChainState;
  /** Every fact of a type, in order, with the height of its block. */
  all<T extends FactType>(type: T): (FactOf<T> & { readonly height: number })[];
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

/** The recorded main chain. */
export const foldRecording = frozenOnce(() => foldChain(recordedBlocks(), RECORDED_CHAIN));
