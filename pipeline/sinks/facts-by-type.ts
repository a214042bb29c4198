/** The facts of a batch, grouped by type. */
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { Fact, FactOf, FactType } from '../../schemas/facts.ts';
import type { DerivedBlock } from './derived-block.ts';

export interface PlacedFact<F extends Fact = Fact> {
  readonly fact: F;
  readonly at: DerivedBlock;
}

export interface FactsByType {
  /** Returns the facts in the order of the chain. */
  of<T extends FactType>(type: T): readonly PlacedFact<FactOf<T>>[];
}

export function factsByType(blocks: readonly DerivedBlock[]): FactsByType {
  const lists = new Map<FactType, PlacedFact[]>();
  for (const at of blocks) {
    for (const fact of at.facts) getOrInsert(lists, fact.type, () => []).push({ fact, at });
  }
  return {
    of: <T extends FactType>(type: T) => (lists.get(type) ?? []) as unknown as readonly PlacedFact<FactOf<T>>[],
  };
}
