/** The rules under which a generation's rows were folded, stored with it, because rows of two sets of rules look alike. */
import { isDeepStrictEqual } from 'node:util';
import type { Pool, PoolClient } from 'pg';
import { changedRules, type FoldedRules, mergedRules } from '../../processors/pricing/folded-rules.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { type Generation, servedGeneration } from './generations.ts';

/** A fold under one set of rules cannot give the existing rows. */
class PricingRulesChanged extends PermanentError {
  constructor(warning: string) {
    super('pricing_rules_changed', warning);
  }
}

/** Names of the rules by which rows of the generation differ from each other, or will with its next tick. */
export function mixedRules({ rules, mixedRules: mixed, isUnfinished }: Generation, now: FoldedRules): string[] {
  // It was begun by a version that stored no rules.
  if (rules === null && isUnfinished) return ['version'];
  return [...new Set([...mixed, ...changedRules(rules ?? now, now)])];
}

/** Call it in the transaction that folds ticks into these generations; `isFirst`: they have none yet. */
export async function keepRules(
  client: PoolClient,
  generations: readonly Generation[],
  now: FoldedRules,
  isFirst: boolean,
): Promise<void> {
  for (const generation of generations) {
    const rules = isFirst || generation.rules === null ? now : mergedRules(generation.rules, now);
    const mixed = isFirst ? [] : mixedRules(generation, now);
    if (isDeepStrictEqual([rules, mixed], [generation.rules, generation.mixedRules])) continue;
    await client.query('UPDATE generations SET rules = $1, mixed_rules = $2 WHERE generation = $3', [
      JSON.stringify(rules),
      mixed,
      generation.generation,
    ]);
  }
}

/** Returns null while all served rows were folded under these rules. */
export async function rulesWarning(client: Pool | PoolClient, now: FoldedRules): Promise<string | null> {
  const served = await servedGeneration(client);
  const mixed = mixedRules(served, now);
  if (mixed.length === 0) return null;
  const fold =
    "Fold all of history under today's rules by `verustream reprocess --regime cutover`, and serve it by `--swap`";
  const rest = served.mixedRules.length === 0 ? '; or set these back before anything is folded under them' : '';
  return `Not all prices and stamps of generation ${served.generation} are of the same rules: ${mixed.join(', ')} changed. ${fold}${rest}.`;
}

/** @throws PricingRulesChanged */
export async function checkRules(client: Pool | PoolClient, now: FoldedRules): Promise<void> {
  const warning = await rulesWarning(client, now);
  if (warning !== null) throw new PricingRulesChanged(warning);
}
