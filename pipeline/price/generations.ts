/** Generations of prices and stamps: all existing ones, and those that every batch of the fold writes. */
import type { Pool, PoolClient } from 'pg';
import { RANGE_REGIMES } from '../../domain/stamps.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { columns, jsonReader, type RowOf, rowReader } from '../../infra/row-reader.ts';
import type { FoldedRules } from '../../processors/pricing/folded-rules.ts';
import type { PricingRules } from '../../processors/pricing/price-fold.ts';
import { type RegimeRange, regimePlan } from '../../processors/pricing/regime-plan.ts';
import { NoServedGeneration } from '../../schemas/generation-errors.ts';

const GENERATION = {
  generation: columns.number,
  served: columns.boolean,
  description: columns.text,
  /** Being made: the fold does not write it yet. */
  isUnfinished: columns.boolean,
};
const readGeneration = rowReader({
  ...GENERATION,
  regimes: columns.text,
  rules: columns.nullable(columns.text),
  mixedRules: columns.texts,
});
const readRanges: (text: string) => readonly RegimeRange[] = jsonReader(
  columns.list(
    columns.object({
      regime: columns.choice(RANGE_REGIMES),
      from: columns.nullable(columns.number),
      to: columns.nullable(columns.number),
      chains: columns.nullable(columns.texts),
    }),
  ),
);

const readRules: (text: string) => FoldedRules = jsonReader(
  columns.object({
    version: columns.text,
    minBasketDepthUsd: columns.text,
    cutover: columns.text,
    priceLimits: columns.text,
    chains: columns.list(
      columns.object(
        {
          name: columns.text,
          currency: columns.text,
          minBasketAge: columns.number,
          stableAnchors: columns.texts,
        },
        { foldedWith: columns.texts },
      ),
    ),
  }),
);

export interface Generation extends RowOf<typeof GENERATION> {
  readonly ranges: readonly RegimeRange[];
  /** Rules under which its newest tick was folded; null before its first tick. */
  readonly rules: FoldedRules | null;
  /** Names of rules that were changed between two of its ticks. */
  readonly mixedRules: readonly string[];
}

/** Returns all generations, oldest first. */
export async function readGenerations(client: Pool | PoolClient): Promise<Generation[]> {
  const rows = await readRows(
    client,
    readGeneration,
    `SELECT generation, served, description, regimes, rules, mixed_rules AS "mixedRules",
       reprocessing.generation IS NOT NULL AS "isUnfinished"
     FROM generations LEFT JOIN reprocessing USING (generation) ORDER BY generation`,
  );
  // Versions before 0.7.0 kept a digest of the rules in each range.
  const rangesOf = (text: string) =>
    readRanges(text).map(({ regime, from, to, chains }) => ({ regime, from, to, chains }));
  return rows.map(({ regimes, rules, ...row }) => {
    return { ...row, ranges: rangesOf(regimes), rules: rules === null ? null : readRules(rules) };
  });
}

/** Returns the generations that the fold writes. A process that adds or removes one must pause the fold meanwhile. */
export async function followedGenerations(client: Pool | PoolClient): Promise<Generation[]> {
  return (await readGenerations(client)).filter(({ isUnfinished }) => !isUnfinished);
}

/** @throws NoServedGeneration */
export async function servedGeneration(client: Pool | PoolClient): Promise<Generation> {
  const served = (await readGenerations(client)).find((generation) => generation.served);
  if (!served) throw new NoServedGeneration();
  return served;
}

/** Returns the rules with ranges that override the cutover; without ranges the rules are unchanged. */
export function withRanges(rules: PricingRules, ranges: readonly RegimeRange[]): PricingRules {
  return ranges.length === 0 ? rules : { ...rules, regimes: regimePlan(rules.regimes.cutover, ranges) };
}
