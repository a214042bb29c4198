/** The whole recorded main chain, derived block by block from genesis. */
import type { Fact, FactOf, FactType } from '../../schemas/facts.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import type { MutableChainState } from '../chain-state.ts';
import { deriveBlock } from '../derive-block.ts';
import { createMemoryState } from '../memory-state.ts';
import { RECORDED_CHAIN, recordedBlocks } from './recorded-chain.ts';

export interface DerivedBlock {
  readonly block: DaemonBlock;
  readonly facts: readonly Fact[];
}

export interface RecordedFold {
  readonly derived: readonly DerivedBlock[];
  /** Right after the recorded tip. */
  readonly state: MutableChainState;
  /** Every fact of a type, in order, with the height of its block. */
  all<T extends FactType>(type: T): (FactOf<T> & { readonly height: number })[];
}

export function foldRecording(): RecordedFold {
  const state = createMemoryState(RECORDED_CHAIN);
  const derived = recordedBlocks().map((block) => ({ block, facts: deriveBlock(block, state) }));
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
