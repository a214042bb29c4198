/** The bundled recording, derived. */
import { deriveBlock } from '../../../processors/derive-block.ts';
import { createMemoryState } from '../../../processors/memory-state.ts';
import { RECORDED_CHAIN, recordedBlocks } from '../../../processors/testing/recorded-chain.ts';
import type { FedBlock } from './facts-feed.ts';

/** From genesis to the tip, with every fact. */
export function recordedDerivation(): FedBlock[] {
  const state = createMemoryState(RECORDED_CHAIN);
  return recordedBlocks().map((block) => ({
    height: block.height,
    hash: block.hash,
    facts: deriveBlock(block, state),
  }));
}
