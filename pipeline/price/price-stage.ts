/** The price stage at work: owns the cursors and the fold, and moves the stores by whole batches and whole rewinds. */
import type { PoolClient } from 'pg';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Logger } from '../../infra/logger.ts';
import { metrics } from '../../infra/metrics.ts';
import type { Stores } from '../../infra/stores.ts';
import { createPriceFold, type PricingRules } from '../../processors/pricing/price-fold.ts';
import type { FactsRewound } from '../../schemas/log-records.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import { waitOutInserts } from '../sinks/clickhouse/wait-out-inserts.ts';
import { createBatchSize } from '../stage/batch-size.ts';
import type { StageLock } from '../stage/stage-lock.ts';
import { createYield } from '../stage/yield-to-event-loop.ts';
import type { AheadTip } from './ahead-change.ts';
import { createAheadFold, type Line } from './ahead-fold.ts';
import { createAheadReader } from './ahead-reader.ts';
import { appendRun, clearRuns, dropFromRuns, dropUnknownRuns, pruneRuns } from './ahead-runs.ts';
import { deleteFrom, insertRows, replaceConversions } from './clickhouse-prices.ts';
import { followedGenerations, readGenerations, servedGeneration } from './generations.ts';
import { keptBlocks } from './kept-prices.ts';
import { appendAhead, dropAhead, forgetShown, readShown, replaceAheadPrices, saveShown } from './postgres-ahead.ts';
import {
  firstInvalidTick,
  firstTickFrom,
  newestHeight,
  recordRewind,
  undoFrom,
  writeKept,
  writeTicks,
} from './postgres-prices.ts';
import { type BatchLimits, foldBatch, type GenerationFold, isEmpty, type PriceBatch } from './price-batch.ts';
import { type ChainCursor, hasEnough, lateChain, type PriceChain } from './price-chain.ts';
import { publishedTicksOf } from './published-ticks.ts';
import { type DerivedPositions, readDerived, readFacts } from './read-facts.ts';
import { refillPrices } from './refill-prices.ts';
import { restore } from './restore.ts';
import { finalClock, finalDay, reopenDays, rolledDays, rollUp } from './rollups.ts';
import type { RewoundChain, StampsPublisher } from './stamps-publisher.ts';

export interface PriceStageOptions {
  /** In their order; the first is the default chain. */
  readonly chains: readonly PriceChain[];
  readonly rules: PricingRules;
  readonly topics: Pick<TopicReader, 'read'>;
  readonly stores: Pick<Stores, 'postgres' | 'clickhouse'>;
  readonly lock: StageLock;
  /** Null to publish nothing. */
  readonly publisher: StampsPublisher | null;
  readonly logger: Logger;
  /** The largest batches; results do not depend on them. */
  readonly limits: BatchLimits;
  /** Stops a step between its parts: it throws, and the stores stay as the last batch left them. */
  readonly signal: AbortSignal;
}

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
  /** By chain: the newest block that is priced provisionally; without chains that have none. */
  readonly aheadTips: ReadonlyMap<string, AheadTip>;
  /** By chain: positions of the first records of topic facts that are not read yet; without chains that need not be read on now. */
  awaited(): readonly (readonly [chain: string, position: number])[];
  /** Blocks in memory. */
  held(): number;
  /** Reads, folds and stores one batch at most; ticks and records are 0 when there is nothing to do. */
  step(): Promise<PriceStep>;
}

/** Truncates ClickHouse to Postgres' commit and continues from there. The caller holds the stage's lock. */
export async function openPriceStage(options: PriceStageOptions): Promise<PriceStage> {
  const { chains, rules, topics, stores, lock, publisher, logger, limits, signal } = options;
  const { postgres, clickhouse } = stores;
  const seconds = metrics.batchSeconds.labels({ chain: ALL_CHAINS, stage: 'price' });
  const yieldToEventLoop = createYield(signal);
  const size = createBatchSize({ maxBlocks: limits.maxTicks });
  let cursors: readonly ChainCursor[] = [];
  let tick = -1;
  let folds: readonly GenerationFold[] = [];
  let derived: DerivedPositions = new Map();
  const reader = createAheadReader(topics, limits.maxQueued, yieldToEventLoop);
  const ahead = createAheadFold(reader, limits, chains[0]?.name ?? '', yieldToEventLoop);
  const looksAhead = limits.lastTick === undefined;

  async function reload(): Promise<void> {
    const readThrough = new Map(cursors.map((cursor) => [cursor.chain.name, cursor.readThrough]));
    const restored = await restore(postgres, chains, rules);
    cursors = restored.cursors;
    for (const cursor of cursors) cursor.readThrough = readThrough.get(cursor.chain.name) ?? -1;
    tick = restored.tick;
    ahead.reset(await postgres.transaction(readShown));
    folds = restored.generations.map(({ generation, rules, state }) => ({
      generation,
      fold: createPriceFold(rules, state),
      backfillEnds: rules.regimes.backfillEnds,
    }));
    // A crash may have come between ClickHouse's correction of a stamp and the commit that makes it count.
    for (const { generation, state } of restored.generations) {
      const open = state.open.map(({ row }) => row);
      if (open.length > 0) await lock.transaction(() => replaceConversions(clickhouse, generation, open));
    }
  }

  /** Undoes both stores to before `first`; `alsoThen` joins the same commit. Published stamps are retracted afterwards. */
  async function undo(
    first: number,
    rewound: RewoundChain | null,
    alsoThen: (client: PoolClient) => Promise<void>,
  ): Promise<void> {
    const [main] = cursors;
    await lock.transaction(async (client) => {
      await deleteFrom(clickhouse, first);
      await undoFrom(client, first);
      await forgetShown(client);
      await clearRuns(client);
      await alsoThen(client);
      if (main) await refill(client, main.chain);
    });
    const newestTick = tick;
    await publisher?.publishRewind(rewound);
    await reload();
    logger.info({ firstTick: first, newestTick }, 'price: ticks undone');
  }

  /** Undoes all ticks from the first invalid one, and reads the records after it again. */
  async function rewind(cursor: ChainCursor, { height, hash, position, fromHeight }: FactsRewound): Promise<void> {
    const { name } = cursor.chain;
    reader.rewound(name, position, height);
    const rewound = { chain: name, height, hash, position };
    const kept = cursor.queue.findLast((block) => block.height <= height);
    const clock = kept?.clock ?? (cursor.ticked && cursor.ticked.height <= height ? cursor.ticked.clock : null);
    if (cursor.next > position) cursor.readThrough = Math.max(cursor.readThrough, position);
    const untrue = await postgres.transaction((client) => firstInvalidTick(client, name, height, clock));
    if (untrue === null) {
      cursor.queue = cursor.queue.filter((block) => block.height <= height);
      ahead.rewound(name, height);
      await publisher?.publishRewind(rewound);
      return;
    }
    logger.info({ chain: name, height, fromHeight }, 'price: rewinds');
    await undo(untrue, rewound, (client) => recordRewind(client, name, height, position));
  }

  /** One that was found ahead of the cursor, and followed then. */
  function passKnown(cursor: ChainCursor, { height, position }: FactsRewound): void {
    cursor.readThrough = Math.max(cursor.readThrough, position);
    cursor.queue = cursor.queue.filter((block) => block.height <= height);
  }

  /** Applies a rewind found beyond the chain's cursor: it also removes the records in between. */
  async function rewindFound(): Promise<boolean> {
    const found = ahead.takeFound();
    const cursor = cursors.find(({ chain }) => chain.name === found?.chain);
    if (!found || !cursor) return false;
    const { height, position } = found.rewind;
    const newest = cursor.queue.at(-1) ?? cursor.ticked;
    if (height < (newest?.height ?? -1)) cursor.next = Math.max(cursor.next, position + 1);
    await rewind(cursor, found.rewind);
    return true;
  }

  /** A chain that is configured later is folded as if it had always been: numbers never depend on when that was. */
  async function makeRoom({ chain, queue }: ChainCursor): Promise<void> {
    const first = await postgres.transaction((client) => firstTickFrom(client, queue[0]?.clock ?? 0));
    if (first === null) return;
    logger.info({ chain: chain.name }, 'price: a chain was added; folding prices again from its first block on');
    await undo(first, null, async () => undefined);
  }

  /** Fills the queues. A rewind that undoes ticks creates new cursors, and the read starts over. */
  async function read(): Promise<number> {
    derived = await readDerived(postgres);
    let records = 0;
    for (let index = 0; index < cursors.length; index++) {
      for (;;) {
        const cursor = cursors[index];
        if (!cursor) break;
        if (hasEnough(cursor, limits.maxQueued)) {
          cursor.isAtEnd = false;
          break;
        }
        const result = await readFacts(topics, cursor, derived, limits.maxQueued, reader.isVoid, yieldToEventLoop);
        records += result.records;
        const isKnown = (result.rewind?.position ?? 0) < reader.readTo(cursor.chain.name);
        if (result.rewind && isKnown) passKnown(cursor, result.rewind);
        else if (result.rewind) await rewind(cursor, result.rewind);
        else if (result.records === 0) break;
      }
    }
    return records;
  }

  async function step(): Promise<PriceStep> {
    const isRewound = await rewindFound();
    const records = await read();
    const none = { ticks: 0, records, isAheadMoved: isRewound, pauseMs: 0 };
    const late = lateChain(cursors);
    if (late) {
      await makeRoom(late);
      return { ...none, isAheadMoved: true };
    }
    const maxTicks = Math.min(size.limits().maxBlocks, (limits.lastTick ?? Number.POSITIVE_INFINITY) - tick);
    const batch = await foldBatch(folds, cursors, tick + 1, { ...limits, maxTicks }, yieldToEventLoop);
    ahead.passed(batch.ticks);
    const line = { cursors, folds, derived };
    const isMore = looksAhead && batch.ticks.length < maxTicks && (await ahead.begin(line));
    if (isEmpty(batch) && !isMore)
      return { ...none, isAheadMoved: isRewound || ahead.hasFound, pauseMs: ahead.pauseMs() };
    const started = performance.now();
    // Inside the transaction, which a process without the lock cannot begin, and before its commit.
    const isWritten = await lock.transaction(async (client) => {
      if (!(await isCurrent(client))) return false;
      await pruneRuns(client, clickhouse);
      for (const rows of batch.folded) await insertRows(clickhouse, rows);
      const drop = ahead.takeDrop();
      await dropAhead(client, drop);
      await dropFromRuns(client, drop);
      await write(client, batch);
      await writeAhead(client, batch, isMore ? line : null);
      return true;
    });
    if (!isWritten) {
      await reload();
      return { ...none, isAheadMoved: true };
    }
    tick += batch.ticks.length;
    const done = {
      ...none,
      ticks: batch.ticks.length,
      isAheadMoved: isMore || ahead.hasFound,
      pauseMs: ahead.pauseMs(),
    };
    if (batch.ticks.length === 0) return done;
    const took = (performance.now() - started) / 1000;
    seconds.observe(took);
    size.took(batch.ticks.length, took);
    await rollUpFinalDays();
    return done;
  }

  /** Recomputes rows dropped in the same commit as far as they reached; adds nothing without a complete line. */
  async function writeAhead(client: PoolClient, batch: PriceBatch, line: Line | null): Promise<void> {
    const { generation } = await servedGeneration(client);
    await publisher?.tell(client, publishedTicksOf(batch.folded, generation));
    if (line) {
      // Prices that differ from the published ones retract all provisional records, and later records follow on that.
      if (publisher) for (const { name } of chains) ahead.goBack(name, publisher.publishedThrough(name));
      for await (const folded of ahead.parts(line)) {
        await appendAhead(client, folded);
        await appendRun(client, clickhouse, folded);
        await publisher?.tellAhead(client, publishedTicksOf(folded, generation));
      }
      await replaceAheadPrices(client, ahead.current());
    }
    await saveShown(client, ahead.shown);
  }

  /** Whether the folded generations are still the ones to write: one may have become ready or been dropped. */
  async function isCurrent(client: PoolClient): Promise<boolean> {
    const followed = (await followedGenerations(client)).map(({ generation }) => generation);
    return followed.join() === folds.map(({ generation }) => generation).join();
  }

  async function write(client: PoolClient, { ticks, folded }: PriceBatch): Promise<void> {
    await writeTicks(client, ticks);
    for (const rows of folded) {
      await writeKept(client, ticks, rows, cursors);
      await reopenDays(client, rows);
    }
  }

  async function rollUpFinalDays(): Promise<void> {
    const clock = await finalClock(postgres.pool, cursors);
    const rolled = await rolledDays(postgres.pool);
    const due = folds.flatMap(({ generation, backfillEnds }) => {
      const [after, through] = [rolled.get(generation) ?? -1, finalDay(clock, backfillEnds)];
      return through > after ? [{ generation, after, through }] : [];
    });
    if (due.length === 0) return;
    await lock.transaction(async (client) => {
      if (await isCurrent(client)) for (const days of due) await rollUp(client, clickhouse, days, tick);
    });
  }

  /** Rewinds are rare, so pruned rows are restored after each one, which also covers two rewinds in a row. */
  async function refill(client: PoolClient, chain: PriceChain): Promise<void> {
    const height = await newestHeight(client, chain.name);
    for (const { generation } of await readGenerations(client)) {
      await refillPrices(client, clickhouse, generation, chain.name, height - keptBlocks(chain));
    }
  }

  await waitOutInserts(clickhouse, signal);
  await reload();
  await lock.transaction(async (client) => {
    await deleteFrom(clickhouse, tick + 1);
    await dropUnknownRuns(client, clickhouse);
  });
  return {
    get cursors() {
      return cursors;
    },
    get aheadTips() {
      return ahead.shown.tips;
    },
    awaited: () => {
      const isPaused = ahead.pauseMs() > 0;
      const wanting = cursors.filter((cursor) => !isPaused || !hasEnough(cursor, limits.maxQueued));
      return wanting.map(({ chain: { name }, next }) => [name, Math.max(next, reader.readTo(name))] as const);
    },
    held: () => cursors.reduce((sum, { queue }) => sum + queue.length, ahead.held()),
    step,
  };
}
