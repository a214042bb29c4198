/** Writes a batch to both stores, and sums the days that it made final. */
import type { PoolClient } from 'pg';
import { foldedRules } from '../../processors/pricing/folded-rules.ts';
import { appendRun, dropFromRuns, pruneRuns } from './ahead-runs.ts';
import type { Line } from './ahead-state.ts';
import { insertRows } from './clickhouse-prices.ts';
import { followedGenerations, type Generation, servedGeneration } from './generations.ts';
import { keepRules } from './kept-rules.ts';
import { appendAhead, dropAhead, replaceAheadPrices, saveShown } from './postgres-ahead.ts';
import { writeKept, writeTicks } from './postgres-prices.ts';
import type { PriceBatch } from './price-batch.ts';
import type { PriceState } from './price-state.ts';
import { publishedTicksOf } from './published-ticks.ts';
import { finalClock, finalDay, reopenDays, rolledDays, rollUp } from './rollups.ts';

/**
 * Writes in one commit; provisional rows are added from `line` on. Returns false without writing when the generations to fold have
 * changed: the state must then be reloaded.
 */
export function writeBatch(state: PriceState, batch: PriceBatch, line: Line | null): Promise<boolean> {
  const { chains, rules, stores } = state.options;
  const { clickhouse } = stores;
  // ClickHouse is written inside the transaction, which a process without the lock cannot begin, and before its commit.
  return state.options.lock.transaction(async (client) => {
    const followed = await followedGenerations(client);
    if (!isCurrent(followed, state)) return false;
    await pruneRuns(client, clickhouse);
    for (const rows of batch.folded) await insertRows(clickhouse, rows);
    const drop = state.ahead.takeDrop();
    await dropAhead(client, drop);
    await dropFromRuns(client, drop);
    await writeComplete(client, state, batch);
    if (batch.ticks.length > 0) await keepRules(client, followed, foldedRules(rules, chains), state.tick < 0);
    await writeAhead(client, state, batch, line);
    return true;
  });
}

async function writeComplete(
  client: PoolClient,
  { cursors }: PriceState,
  { ticks, folded }: PriceBatch,
): Promise<void> {
  await writeTicks(client, ticks);
  for (const rows of folded) {
    await writeKept(client, ticks, rows, cursors);
    await reopenDays(client, rows);
  }
}

/** Recomputes rows dropped in the same commit as far as they reached; adds nothing without `line`. */
async function writeAhead(
  client: PoolClient,
  { ahead, options }: PriceState,
  batch: PriceBatch,
  line: Line | null,
): Promise<void> {
  const { chains, stores, publisher } = options;
  const { generation } = await servedGeneration(client);
  await publisher?.publish(client, publishedTicksOf(batch.folded, generation));
  if (line) {
    // Prices that differ from the published ones retract all provisional records, and later records follow the retraction.
    if (publisher) for (const { name } of chains) ahead.goBack(name, publisher.publishedThrough(name));
    for await (const folded of ahead.parts(line)) {
      await appendAhead(client, folded);
      await appendRun(client, stores.clickhouse, folded);
      await publisher?.publishAhead(client, publishedTicksOf(folded, generation));
    }
    await replaceAheadPrices(client, ahead.current());
  }
  await saveShown(client, ahead.shown);
}

/** Whether these are the folded generations: one may have become ready or been dropped. */
export function isCurrent(followed: readonly Generation[], { folds }: PriceState): boolean {
  return followed.map(({ generation }) => generation).join() === folds.map(({ generation }) => generation).join();
}

export async function rollUpFinalDays(state: PriceState): Promise<void> {
  const { stores, lock } = state.options;
  const { postgres, clickhouse } = stores;
  const clock = await finalClock(postgres.pool, state.cursors);
  const rolled = await rolledDays(postgres.pool);
  const due = state.folds.flatMap(({ generation, backfillEnds }) => {
    const [after, through] = [rolled.get(generation) ?? -1, finalDay(clock, backfillEnds)];
    return through > after ? [{ generation, after, through }] : [];
  });
  if (due.length === 0) return;
  await lock.transaction(async (client) => {
    if (isCurrent(await followedGenerations(client), state))
      for (const days of due) await rollUp(client, clickhouse, days, state.tick);
  });
}
