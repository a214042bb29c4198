/** The `price` stage: folds the facts of all chains into prices and USD stamps. docs/decisions/0006-price-stage.md. */
import { coins } from '../../domain/basket-state.ts';
import { coinsToSatoshis } from '../../domain/satoshi.ts';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Logger } from '../../infra/logger.ts';
import { type PositionMoves, watchPositions } from '../../infra/postgres/position-moves.ts';
import { pause, withOwnSignal } from '../../infra/repeat-until.ts';
import type { Stores } from '../../infra/stores.ts';
import { type FoldedRules, foldedRules } from '../../processors/pricing/folded-rules.ts';
import type { PricingRules } from '../../processors/pricing/price-fold.ts';
import { regimePlan } from '../../processors/pricing/regime-plan.ts';
import type { PricingConfig } from '../../schemas/config.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import { forgetStage } from '../stage/forget-metrics.ts';
import { ownStage } from '../stage/own-stage.ts';
import { fencedBy, type StageLock } from '../stage/stage-lock.ts';
import { BATCH_LIMITS, type BatchLimits } from './price-batch.ts';
import type { PriceChain } from './price-chain.ts';
import { createPriceReport } from './price-report.ts';
import { openPriceStage, type PriceStage } from './price-stage.ts';
import { openStampsPublisher } from './stamps-publisher.ts';

export interface RunPriceOptions {
  /** In configured order; the first is the default chain. */
  readonly chains: readonly PriceChain[];
  readonly config: PricingConfig;
  readonly log: Pick<EventLog, 'openWriter'>;
  /** Reads the same log. */
  readonly topics: TopicReader;
  readonly stores: Pick<Stores, 'postgres' | 'clickhouse'>;
  readonly logger: Logger;
  readonly status: (chain: string, status: StageStatus) => void;
  /** Called when this process has become the owner of the stage. */
  readonly owned?: () => void;
  readonly signal: AbortSignal;
  readonly limits?: BatchLimits;
}

/** Derive's commits and new facts end the wait; this limit is for missed notifications. */
const WAIT_MS = 5000;
/** Facts appear in the topic shortly before derive's commit, which releases them and notifies. On Kafka they may also follow it. */
const COMMIT_POLL_MS = 25;

/**
 * Resolves when the signal aborts. After any other end it may simply be called again.
 * @throws StageLockLost (retryable), and errors of the stores and the log
 */
export function runPrice(options: RunPriceOptions): Promise<void> {
  const { chains, stores, signal, owned } = options;
  const taken = () => forgetStage('price', chains);
  return ownStage({ postgres: stores.postgres, stage: 'price', chain: ALL_CHAINS, signal, taken, owned }, (lock) =>
    fold({ ...options, stores: fencedBy(lock, stores) }, lock),
  );
}

async function fold(options: RunPriceOptions, lock: StageLock): Promise<void> {
  const { chains, config, log, topics, stores, logger, signal, limits = BATCH_LIMITS } = options;
  const rules = pricingRules(chains, config);
  const publisher = await openStampsPublisher(log, topics, lock, chains);
  try {
    const stage = await openPriceStage({ chains, rules, topics, stores, lock, publisher, logger, limits, signal });
    await foldOn(stage, options, lock);
  } finally {
    await publisher.close();
  }
}

async function foldOn(stage: PriceStage, options: RunPriceOptions, lock: StageLock): Promise<void> {
  const { topics, stores, logger, signal } = options;
  const report = createPriceReport(options);
  const derived = watchPositions(stores.postgres, logger, 'derive');
  try {
    while (!signal.aborted) {
      const { ticks, records, isAheadMoved, pauseMs } = await stage.step();
      await lock.inStep(); // the first records include a rewind that an earlier owner began
      report.at(stage, ticks);
      if (ticks > 0 || records > 0 || isAheadMoved) continue;
      await waitForFacts(topics, stage, derived, pauseMs > 0 ? Math.min(pauseMs, WAIT_MS) : WAIT_MS, signal);
    }
  } finally {
    await derived.stop();
  }
}

export function pricingRules(chains: readonly PriceChain[], config: PricingConfig): PricingRules {
  return {
    chains,
    anchors: new Set(chains.flatMap(({ stableAnchors }) => stableAnchors)),
    minBasketDepth: coins(coinsToSatoshis(config.minBasketDepthUsd)),
    regimes: regimePlan(config.cutover),
    priceLimits: config.priceLimits,
  };
}

/** The rules to store with rows that are folded under this configuration. */
export const foldedRulesOf = (chains: readonly PriceChain[], config: PricingConfig): FoldedRules =>
  foldedRules(pricingRules(chains, config), chains);

/** Waits until derive commits, or until facts that it has committed appear in a topic. */
async function waitForFacts(
  topics: Pick<TopicReader, 'waitFor'>,
  stage: PriceStage,
  derived: PositionMoves,
  waitMs: number,
  signal: AbortSignal,
): Promise<void> {
  await withOwnSignal(signal, null, async (own) => {
    const facts = stage.awaited().map(async ([chain, next]) => {
      await topics.waitFor('facts', chain, next, waitMs, own);
      await pause(COMMIT_POLL_MS, own);
    });
    await Promise.race([...facts, derived.next(waitMs, own)]);
  });
}
