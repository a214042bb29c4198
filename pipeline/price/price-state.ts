/** State of the price stage: the tick that both stores have committed, the blocks read beyond it, and the folds that continue from there. */
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Logger } from '../../infra/logger.ts';
import type { Stores } from '../../infra/stores.ts';
import { createPriceFold, type PricingRules } from '../../processors/pricing/price-fold.ts';
import type { StageLock } from '../stage/stage-lock.ts';
import { createYield } from '../stage/yield-to-event-loop.ts';
import { type AheadFold, createAheadFold } from './ahead-fold.ts';
import { type AheadReader, createAheadReader } from './ahead-reader.ts';
import { replaceConversions } from './clickhouse-prices.ts';
import { readShown } from './postgres-ahead.ts';
import type { BatchLimits, GenerationFold } from './price-batch.ts';
import type { ChainCursor, PriceChain } from './price-chain.ts';
import type { DerivedPositions } from './read-facts.ts';
import { restore } from './restore.ts';
import type { StampsPublisher } from './stamps-publisher.ts';

export interface PriceStageOptions {
  /** In configured order; the first is the default chain. */
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

export interface PriceState {
  readonly options: PriceStageOptions;
  readonly yieldToEventLoop: () => Promise<void> | undefined;
  readonly reader: AheadReader;
  readonly ahead: AheadFold;
  cursors: readonly ChainCursor[];
  /** The newest committed tick; −1 before the first. */
  tick: number;
  folds: readonly GenerationFold[];
  /** Derive's positions at the newest read. */
  derived: DerivedPositions;
}

/** Creates the state, which is empty until it is reloaded. */
export function createPriceState(options: PriceStageOptions): PriceState {
  const { chains, topics, limits, signal } = options;
  const yieldToEventLoop = createYield(signal);
  const reader = createAheadReader(topics, limits.maxQueued, yieldToEventLoop);
  const ahead = createAheadFold(reader, limits, chains[0]?.name ?? '', yieldToEventLoop);
  return { options, yieldToEventLoop, reader, ahead, cursors: [], tick: -1, folds: [], derived: new Map() };
}

/** Continues from what Postgres has committed. */
export async function reload(state: PriceState): Promise<void> {
  const { chains, rules, stores, lock } = state.options;
  const readThrough = new Map(state.cursors.map((cursor) => [cursor.chain.name, cursor.readThrough]));
  const restored = await restore(stores.postgres, chains, rules);
  state.cursors = restored.cursors;
  for (const cursor of state.cursors) cursor.readThrough = readThrough.get(cursor.chain.name) ?? -1;
  state.tick = restored.tick;
  state.ahead.reset(await stores.postgres.transaction(readShown));
  state.folds = restored.generations.map(({ generation, rules, state }) => ({
    generation,
    fold: createPriceFold(rules, state),
    backfillEnds: rules.regimes.backfillEnds,
  }));
  // A crash may have happened between ClickHouse's correction of a stamp and the commit that makes it count.
  for (const { generation, state } of restored.generations) {
    const open = state.open.map(({ row }) => row);
    if (open.length > 0) await lock.transaction(() => replaceConversions(stores.clickhouse, generation, open));
  }
}
