/** Begins a candidate generation, swaps it with the served one, and drops one of them. At most two exist. */
import { isDeepStrictEqual } from 'node:util';
import type { PoolClient } from 'pg';
import { NOTIFY_ALL } from '../../infra/postgres/position-moves.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import type { FoldedRules } from '../../processors/pricing/folded-rules.ts';
import { type RegimeRange, withRange } from '../../processors/pricing/regime-plan.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import { type Generation, readGenerations, servedGeneration } from '../price/generations.ts';
import { mixedRules } from '../price/kept-rules.ts';
import { pauseStages } from '../stage/pause-stages.ts';

class CandidateGenerationExists extends PermanentError {
  constructor({ generation, description, isUnfinished }: Generation) {
    const state = isUnfinished ? 'unfinished' : 'ready';
    super(
      'generation_in_the_way',
      `Generation ${generation} (${description}, ${state}) exists next to the served one, and there can be only one. ` +
        `Give the same command again to continue it, or run \`verustream reprocess --drop ${generation}\`.`,
    );
  }
}

class MadeByOtherRules extends PermanentError {
  constructor({ generation, description, isUnfinished }: Generation, changed: readonly string[]) {
    const state = isUnfinished ? 'was begun' : 'was made';
    super(
      'generation_in_the_way',
      `Generation ${generation} (${description}) ${state} under other rules (${changed.join(', ')}). ` +
        `Run \`verustream reprocess --drop ${generation}\`, and then the same command again.`,
    );
  }
}

class NothingToSwap extends PermanentError {
  constructor(reason: string) {
    super('nothing_to_swap', reason);
  }
}

class GenerationNotDropped extends PermanentError {
  constructor(reason: string) {
    super('generation_not_dropped', reason);
  }
}

/**
 * Returns the generation for the served ranges overridden by `range`: begins it, or finds the one that was begun before.
 * @throws CandidateGenerationExists, MadeByOtherRules: a generation is made by one set of rules
 */
export async function beginGeneration(
  stores: Stores,
  range: RegimeRange,
  description: string,
  rules: FoldedRules,
): Promise<Generation> {
  await removeLeftovers(stores);
  return stores.postgres.transaction(async (client) => {
    await client.query('LOCK TABLE generations IN SHARE ROW EXCLUSIVE MODE');
    const served = await servedGeneration(client);
    const ranges = withRange(served.ranges, range);
    const beside = (await readGenerations(client)).find((one) => !one.served);
    if (beside) {
      if (!isDeepStrictEqual(beside.ranges, ranges)) throw new CandidateGenerationExists(beside);
      const mixed = mixedRules(beside, rules);
      if (mixed.length > 0) throw new MadeByOtherRules(beside, mixed);
      return beside;
    }
    const row = await readRow(
      client,
      readNumber,
      `INSERT INTO generations (generation, served, description, regimes, rules)
       VALUES (nextval('generation_numbers'), false, $1, $2, $3) RETURNING generation`,
      [description, JSON.stringify(ranges), JSON.stringify(rules)],
    );
    const generation = row?.generation ?? 0;
    await client.query('INSERT INTO reprocessing (generation) VALUES ($1)', [generation]);
    return { generation, served: false, description, ranges, rules, mixedRules: [], isUnfinished: true };
  });
}

/** Serves the newer of the two generations, or the older one again; readers see one or the other. @throws NothingToSwap */
export async function swapGenerations(postgres: Postgres, to: 'newer' | 'older'): Promise<Generation> {
  return postgres.transaction(async (client) => {
    await client.query('LOCK TABLE generations IN SHARE ROW EXCLUSIVE MODE');
    const served = await servedGeneration(client);
    const other = (await readGenerations(client)).find((one) => !one.served);
    const target = other && other.generation > served.generation === (to === 'newer') ? other : null;
    if (!target) throw new NothingToSwap(nothingTo(to, served, other));
    if (target.isUnfinished) {
      throw new NothingToSwap(
        `Generation ${target.generation} is not ready: run \`verustream reprocess\` to completion.`,
      );
    }
    await client.query('UPDATE generations SET served = false WHERE served');
    await client.query('UPDATE generations SET served = true WHERE generation = $1', [target.generation]);
    await client.query(NOTIFY_ALL);
    return { ...target, served: true };
  });
}

function nothingTo(to: 'newer' | 'older', served: Generation, other: Generation | undefined): string {
  const now = `Generation ${served.generation} (${served.description}) is served`;
  if (!other) return `${now}, and there is no other: \`verustream reprocess --regime NAME\` creates one.`;
  const way = to === 'newer' ? '`--swap-back` restores' : '`--swap` serves';
  return `${now}, the ${to} of the two; ${way} generation ${other.generation} (${other.description}).`;
}

/** @throws GenerationNotDropped for the served generation and for one that does not exist */
export async function dropGeneration(stores: Stores, generation: number): Promise<void> {
  await stores.postgres.transaction(async (client) => {
    await pauseStages(client, [{ stage: 'price', chain: ALL_CHAINS }]);
    const all = await readGenerations(client);
    const found = all.find((one) => one.generation === generation);
    if (!found || found.served) throw new GenerationNotDropped(notDropped(generation, all));
    await client.query('DELETE FROM generations WHERE generation = $1', [generation]);
  });
  await removeLeftovers(stores);
}

function notDropped(generation: number, all: readonly Generation[]): string {
  const droppable = all.find(({ served }) => !served)?.generation;
  const what = all.some((one) => one.generation === generation) ? 'is served' : 'does not exist';
  return `Generation ${generation} ${what}; ${droppable === undefined ? 'there is none to drop' : `--drop takes ${droppable}`}.`;
}

const TABLES = ['prices', 'stamps', 'backfill_prices', 'stamp_digests'];
const CLICKHOUSE_TABLES = ['prices', 'conversions', 'daily_trades', 'stamp_prices', 'stamp_bounds'];

const readNumber = rowReader({ generation: columns.number });
const readPart = rowReader({ table: columns.text, partition: columns.text });

/** Removes rows of generations that no longer exist; the next command thus completes a drop that was interrupted. */
async function removeLeftovers({ postgres, clickhouse }: Stores): Promise<void> {
  const live = (await readGenerations(postgres.pool)).map(({ generation }) => generation);
  await postgres.transaction((client) => removeRows(client, live));
  const parts = await clickhouse.rows(
    readPart,
    `SELECT DISTINCT table, partition FROM system.parts WHERE database = currentDatabase() AND active
       AND table IN ({tables:Array(String)}) AND NOT has({live:Array(String)}, partition)`,
    { tables: CLICKHOUSE_TABLES, live: live.map(String) },
  );
  for (const { table, partition } of parts)
    await clickhouse.command(`ALTER TABLE ${table} DROP PARTITION ${partition}`);
}

async function removeRows(client: PoolClient, live: readonly number[]): Promise<void> {
  for (const table of TABLES) await client.query(`DELETE FROM ${table} WHERE generation <> ALL($1)`, [live]);
}
