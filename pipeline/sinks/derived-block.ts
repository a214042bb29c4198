/** The input of the sinks: the facts of one block and their source. */
import type { BlockFact, Fact } from '../../schemas/facts.ts';

export interface DerivedBlock {
  /** Position of the block's record in the log. */
  readonly position: number;
  readonly height: number;
  /** The block's own fact, which is also in `facts`. */
  readonly block: BlockFact;
  readonly facts: readonly Fact[];
}

export function blockFactOf(facts: readonly Fact[]): BlockFact {
  const fact = facts.find((one) => one.type === 'block');
  if (!fact) throw new TypeError('deriving a block returned no block fact');
  return fact;
}
