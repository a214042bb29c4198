/** The rules that a generation's rows were folded under, kept with it: rows of two sets of rules look alike. */
import type { Pool, PoolClient } from 'pg';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { columns, jsonReader, rowReader } from '../../infra/row-reader.ts';
import { changedRules, type NamedRules, namedRules } from '../../processors/pricing/named-rules.ts';
import type { PricingRules } from '../../processors/pricing/price-fold.ts';
import { PermanentError } from '../../schemas/errors.ts';

/** A generation whose older rows were folded under other rules than its newest ones. */
export interface MixedGeneration {
  readonly generation: number;
  readonly served: boolean;
  /** Names of the rules that were changed since. */
  readonly changed: readonly string[];
}

/** A fold under today's rules cannot give the rows that are there. */
class PricingRulesChanged extends PermanentError {
  constructor(mixed: MixedGeneration) {
    super('pricing_rules_changed', adviceOn(mixed));
  }
}

const readKept = rowReader({
  generation: columns.number,
  served: columns.boolean,
  rules: columns.nullable(columns.text),
});
const readRules = jsonReader(columns.record(columns.text));

async function keptRules(client: Pool | PoolClient) {
  const rows = await readRows(
    client,
    readKept,
    'SELECT generation, served, rules FROM generations ORDER BY generation',
  );
  return rows.map(({ rules, ...row }) => ({ ...row, rules: rules === null ? null : readRules(rules) }));
}

export async function mixedGenerations(client: Pool | PoolClient, rules: PricingRules): Promise<MixedGeneration[]> {
  const now = namedRules(rules);
  const kept = await keptRules(client);
  return kept
    .map(({ generation, served, rules: before }) => ({ generation, served, changed: changedRules(before ?? now, now) }))
    .filter(({ changed }) => changed.length > 0);
}

/** Keeps the rules of generations that have none yet, and what a chain that was added brought. */
export async function keepRules(client: PoolClient, rules: PricingRules): Promise<void> {
  const now = namedRules(rules);
  for (const { generation, rules: before } of await keptRules(client)) {
    if (changedRules(before ?? now, now).length === 0) await saveRules(client, now, generation);
  }
}

/** All generations have lost all of their rows: from here on they are folded under these rules. */
export async function beginRules(client: PoolClient, rules: PricingRules): Promise<void> {
  for (const { generation } of await keptRules(client)) await saveRules(client, namedRules(rules), generation);
}

async function saveRules(client: PoolClient, rules: NamedRules, generation: number): Promise<void> {
  await client.query('UPDATE generations SET rules = $1 WHERE generation = $2 AND rules IS DISTINCT FROM $1::jsonb', [
    JSON.stringify(rules),
    generation,
  ]);
}

/** @throws PricingRulesChanged if the served generation is mixed */
export async function checkRules(client: Pool | PoolClient, rules: PricingRules): Promise<void> {
  const mixed = (await mixedGenerations(client, rules)).find(({ served }) => served);
  if (mixed) throw new PricingRulesChanged(mixed);
}

export function adviceOn({ generation, changed }: MixedGeneration): string {
  return (
    `Older prices and stamps of generation ${generation} were folded under other rules than newer ones: ${changed.join(', ')}. ` +
    "Set these back; or fold all of history again under today's rules by `verustream reprocess --regime cutover` and `--swap`."
  );
}
