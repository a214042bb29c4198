/** Folds prices and stamps again from newly derived facts, to compare them with the served ones. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Logger } from '../../infra/logger.ts';
import { untilCancelled } from '../../infra/postgres/cancelled-statements.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import type { RegimeRange } from '../../processors/pricing/regime-plan.ts';
import type { PricingConfig } from '../../schemas/config.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import { servedGeneration, withRanges } from '../price/generations.ts';
import { BATCH_LIMITS } from '../price/price-batch.ts';
import type { PriceChain } from '../price/price-chain.ts';
import { openPriceStage } from '../price/price-stage.ts';
import { pricingRules } from '../price/run-price.ts';
import { isNotAtRest, pauseStages } from '../stage/pause-stages.ts';
import type { StageLock } from '../stage/stage-lock.ts';
import { createStageProgress } from '../stage/stage-progress.ts';
import { PRICE_TABLES } from './digest-tables.ts';
import { VerifyDisturbed } from './served-snapshot.ts';
import { type BeginTable, clickhouseDigests, type Digests, digestsUntil, postgresDigests } from './store-digests.ts';

export interface PriceSnapshot {
  readonly tick: number;
  /** Height of the tick's block. */
  readonly height: number;
  readonly hash: string;
  /** Regime ranges of the served generation. */
  readonly ranges: readonly RegimeRange[];
  readonly digests: Digests;
}

/** Progress of the fold. */
export interface PriceProgress {
  /** Newest folded tick; null before the first. */
  readonly tick: number | null;
  readonly lastTick: number;
  /** Ticks per second over the last half minute. */
  readonly rate: number;
  readonly etaSeconds: number | null;
}

export interface RefoldOptions {
  readonly chains: readonly PriceChain[];
  readonly config: PricingConfig;
  /** The log with the newly derived facts. */
  readonly facts: EventLog;
  readonly fresh: Stores;
  readonly lock: StageLock;
  readonly logger: Logger;
  /** Called after each batch. */
  readonly progress?: ((progress: PriceProgress) => void) | undefined;
  readonly begin?: BeginTable;
  readonly signal: AbortSignal;
}

const ATTEMPTS = 40;
const PAUSE_MS = 250;

/** Returns the served prices at the newest tick, or null before the first tick. The price stage pauses during the read. */
export async function servedPrices(
  stores: Stores,
  signal: AbortSignal,
  begin?: BeginTable,
): Promise<PriceSnapshot | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await stores.postgres.transaction(async (client) => {
        await pauseStages(client, [{ stage: 'price', chain: ALL_CHAINS }], '10min');
        const at = await newestTick(client);
        if (!at) return null;
        const { generation, ranges } = await servedGeneration(client);
        const digests = () => postgresDigests(client, PRICE_TABLES, { generation }, begin);
        const postgres = await untilCancelled(stores.postgres.pool, client, signal, digests);
        const only = { generation, tick: at.tick };
        const clickhouse = await clickhouseDigests(stores.clickhouse, PRICE_TABLES, only, begin);
        return { ...at, ranges, digests: { ...postgres, ...clickhouse } };
      });
    } catch (error) {
      if (!isNotAtRest(error)) throw error;
      if (attempt === ATTEMPTS) throw new VerifyDisturbed('the price stage');
      await sleep(PAUSE_MS, undefined, { signal });
    }
  }
}

/** Folds up to the tick of `served` and returns the digests. @throws VerifyDisturbed when that tick is another block by then */
export async function refoldPrices(options: RefoldOptions, served: PriceSnapshot): Promise<Digests> {
  const { chains, config, facts, fresh, lock, logger, progress, begin, signal } = options;
  const rules = withRanges(pricingRules(chains, config), served.ranges);
  const stage = await openPriceStage({
    chains,
    rules,
    topics: createTopicReader(facts),
    stores: fresh,
    lock,
    publisher: null,
    logger,
    limits: { ...BATCH_LIMITS, lastTick: served.tick },
    signal,
  });
  const meter = createStageProgress();
  meter.target(served.tick);
  for (;;) {
    signal.throwIfAborted();
    const { ticks, records } = await stage.step();
    if (ticks === 0 && records === 0) break;
    const tick = (await newestTick(fresh.postgres.pool))?.tick ?? null; // a rewind in the facts undoes ticks
    meter.at(tick, ticks, null);
    progress?.({ tick, lastTick: served.tick, rate: meter.numbers().rate, etaSeconds: meter.etaSeconds() });
  }
  const at = await newestTick(fresh.postgres.pool);
  if (at?.tick !== served.tick || at.hash !== served.hash) throw new VerifyDisturbed('prices');
  const postgres = await digestsUntil(fresh.postgres.pool, signal, PRICE_TABLES, {}, begin);
  return { ...postgres, ...(await clickhouseDigests(fresh.clickhouse, PRICE_TABLES, {}, begin)) };
}

const readTick = rowReader({ tick: columns.bigint, height: columns.number, hash: columns.text });

async function newestTick(client: Pick<Stores['postgres']['pool'], 'query'>) {
  const row = await readRow(client, readTick, 'SELECT tick, height, hash FROM price_ticks ORDER BY tick DESC LIMIT 1');
  return row ? { ...row, tick: Number(row.tick) } : null;
}
