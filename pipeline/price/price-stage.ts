/** The price stage: reads facts, folds them, and moves the stores by whole batches and whole rewinds. */
import { metrics } from '../../infra/metrics.ts';
import { foldedRules } from '../../processors/pricing/folded-rules.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import { waitOutInserts } from '../sinks/clickhouse/wait-out-inserts.ts';
import { createBatchSize } from '../stage/batch-size.ts';
import type { AheadTip } from './ahead-change.ts';
import { dropUnknownRuns } from './ahead-runs.ts';
import { deleteFrom } from './clickhouse-prices.ts';
import { followedGenerations } from './generations.ts';
import { rulesWarning } from './kept-rules.ts';
import { foldBatch, isEmpty } from './price-batch.ts';
import { type ChainCursor, hasEnough, isWithheld, lateChain } from './price-chain.ts';
import { createPriceState, type PriceStageOptions, type PriceState, reload } from './price-state.ts';
import { readDerived, readFacts } from './read-facts.ts';
import { makeRoom, passKnown, rewind, rewindFound } from './undo-ticks.ts';
import { isCurrent, rollUpFinalDays, writeBatch } from './write-batch.ts';

export interface PriceStep {
  readonly ticks: number;
  /** Facts records read. */
  readonly records: number;
  /** Whether provisional rows have changed or a rewind was found among them: there may be more to do. */
  readonly isAheadMoved: boolean;
  /** Milliseconds until invalid provisional rows may be recomputed; 0 if there are none. */
  readonly pauseMs: number;
}

export interface PriceStage {
  readonly cursors: readonly ChainCursor[];
  /** By chain: the newest block that is priced provisionally; chains without such a block are absent. */
  readonly aheadTips: ReadonlyMap<string, AheadTip>;
  /** Next unread facts position of each chain that can be read now. */
  awaited(): readonly (readonly [chain: string, position: number])[];
  /** Blocks in memory. */
  held(): number;
  /** Reads, folds and stores at most one batch; ticks and records are 0 when there is nothing to do. */
  step(): Promise<PriceStep>;
}

/** Truncates ClickHouse to Postgres' commit and continues from there. The caller holds the stage's lock. */
export async function openPriceStage(options: PriceStageOptions): Promise<PriceStage> {
  const { chains, rules, stores, lock, logger, limits, signal } = options;
  const seconds = metrics.batchSeconds.labels({ chain: ALL_CHAINS, stage: 'price' });
  const size = createBatchSize({ maxBlocks: limits.maxTicks });
  const state = createPriceState(options);
  const { ahead, reader } = state;
  const looksAhead = limits.lastTick === undefined;

  async function step(): Promise<PriceStep> {
    const isRewound = await rewindFound(state);
    const records = await fillQueues(state);
    const none = { ticks: 0, records, isAheadMoved: isRewound, pauseMs: 0 };
    const late = lateChain(state.cursors);
    if (late) {
      await makeRoom(state, late);
      return { ...none, isAheadMoved: true };
    }
    const { cursors, folds, derived } = state;
    const maxTicks = Math.min(size.limits().maxBlocks, (limits.lastTick ?? Number.POSITIVE_INFINITY) - state.tick);
    const batch = await foldBatch(folds, cursors, state.tick + 1, { ...limits, maxTicks }, state.yieldToEventLoop);
    ahead.passed(batch.ticks);
    const line = { cursors, folds, derived };
    const isMore = looksAhead && batch.ticks.length < maxTicks && (await ahead.begin(line));
    const isIdle = isEmpty(batch) && !isMore;
    if (isIdle && isCurrent(await followedGenerations(stores.postgres.pool), state))
      return { ...none, isAheadMoved: isRewound || ahead.hasFound, pauseMs: ahead.pauseMs() };
    const started = performance.now();
    // A generation that has become ready needs its rows beyond the line, whether or not another block comes.
    if (isIdle || !(await writeBatch(state, batch, isMore ? line : null))) {
      await reload(state);
      return { ...none, isAheadMoved: true };
    }
    const ticks = batch.ticks.length;
    state.tick += ticks;
    const done = { ...none, ticks, isAheadMoved: isMore || ahead.hasFound, pauseMs: ahead.pauseMs() };
    if (ticks === 0) return done;
    const took = (performance.now() - started) / 1000;
    seconds.observe(took);
    size.took(ticks, took);
    await rollUpFinalDays(state);
    return done;
  }

  await waitOutInserts(stores.clickhouse, signal);
  await reload(state);
  await lock.transaction(async (client) => {
    await deleteFrom(stores.clickhouse, state.tick + 1);
    await dropUnknownRuns(client, stores.clickhouse);
    const warning = state.tick < 0 ? null : await rulesWarning(client, foldedRules(rules, chains));
    if (warning !== null) logger.warn(warning);
  });
  return {
    get cursors() {
      return state.cursors;
    },
    get aheadTips() {
      return ahead.shown.tips;
    },
    awaited: () => {
      const isPaused = ahead.pauseMs() > 0;
      const wanting = state.cursors.filter(
        (cursor) => !isWithheld(cursor) && (!isPaused || !hasEnough(cursor, limits.maxQueued)),
      );
      return wanting.map(({ chain: { name }, next }) => [name, Math.max(next, reader.readTo(name))] as const);
    },
    held: () => state.cursors.reduce((sum, { queue }) => sum + queue.length, ahead.held()),
    step,
  };
}

/** Reads up to derive's commits and returns the number of records. A rewind that undoes ticks creates new cursors, and the read starts over. */
async function fillQueues(state: PriceState): Promise<number> {
  const { topics, stores, limits } = state.options;
  const { reader, yieldToEventLoop } = state;
  state.derived = await readDerived(stores.postgres);
  let records = 0;
  for (let index = 0; index < state.cursors.length; index++) {
    for (;;) {
      const cursor = state.cursors[index];
      if (!cursor) break;
      if (hasEnough(cursor, limits.maxQueued)) {
        cursor.isAtEnd = false;
        break;
      }
      const result = await readFacts(topics, cursor, state.derived, limits.maxQueued, reader.isVoid, yieldToEventLoop);
      records += result.records;
      const isKnown = (result.rewind?.position ?? 0) < reader.readTo(cursor.chain.name);
      if (result.rewind && isKnown) passKnown(cursor, result.rewind);
      else if (result.rewind) await rewind(state, cursor, result.rewind);
      else if (result.records === 0) break;
    }
  }
  return records;
}
