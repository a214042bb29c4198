/** A chain state that keeps everything, in plain maps. */
import type { ChainContext, MutableChainState } from './chain-state.ts';
import { createChainState, plainMap, stateMaps } from './create-chain-state.ts';

/** Creates the state before genesis. */
export function createMemoryState(chain: ChainContext): MutableChainState {
  return createChainState(chain, stateMaps(plainMap), null, false);
}
