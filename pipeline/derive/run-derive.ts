/** Folds a chain's blocks into both stores and the facts topic, exactly once. One runs for each chain. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import type { Logger } from '../../infra/logger.ts';
import type { Stores } from '../../infra/stores.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { decodeBlocksRecord } from '../../schemas/log-codec.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { cutBackTo } from '../sinks/clickhouse/clickhouse-sink.ts';
import { waitOutInserts } from '../sinks/clickhouse/wait-out-inserts.ts';
import { acquireStageLock, type StageLock } from '../stage-lock.ts';
import { createBatchSize } from './batch-size.ts';
import { createBatchWriter } from './batch-writer.ts';
import { checkLog } from './check-log.ts';
import type { CrashPoint } from './crash-point.ts';
import { createDeriveReport, type DeriveReport } from './derive-report.ts';
import { openFactsPublisher } from './facts-publisher.ts';
import { foldLog } from './fold-log.ts';
import type { SegmentLimits } from './read-segments.ts';
import { readStagePosition } from './stage-position.ts';
import { createStoredState } from './stored-state.ts';

export interface DeriveOptions {
  readonly chain: ChainConfig;
  readonly nativeCurrencyId: string;
  readonly log: EventLog;
  readonly stores: Stores;
  readonly logger: Logger;
  /** Told about once a second and at each change of state. */
  readonly status: (status: StageStatus) => void;
  /** Ends the stage after the batch under way. */
  readonly signal: AbortSignal;
  /** The largest batch; results do not depend on it. */
  readonly batch?: Partial<SegmentLimits>;
  /** Of tests: what it throws at a moment between two writes makes the stage fail there. */
  readonly crashPoint?: (point: CrashPoint) => void | Promise<void>;
}

const WAIT_MS = 1000;
const TARGET_EVERY_MS = 1000;
/** Blocks that arrive faster than this are gathered into batches. */
const GATHER_MS = 50;

/**
 * Resolves when the signal aborts. After any other end it may simply be called again.
 * @throws StageLockLost, StageFenced (retryable); LogBehindStores, LogDiffers, FactsBehindStores, what the processors throw
 */
export async function runDerive(options: DeriveOptions): Promise<void> {
  const { chain, stores, signal } = options;
  try {
    const lock = await acquireStageLock(stores.postgres, 'derive', chain.name, signal);
    try {
      await ownChain(options, lock);
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (signal.aborted && (error as { name?: unknown }).name === 'AbortError') return;
    throw error;
  }
}

async function ownChain(options: DeriveOptions, lock: StageLock): Promise<void> {
  const { chain, nativeCurrencyId, log, stores, logger, signal, crashPoint } = options;
  const context = { name: chain.name, nativeCurrencyId, networkRoot: chain.networkRoot };
  const committed = await readStagePosition(stores.postgres.pool, 'derive', chain.name);
  await checkLog(log, chain.name, committed);
  await waitOutInserts(stores.clickhouse, signal);
  await cutBackTo(stores.clickhouse, chain.name, committed?.position ?? -1);
  const publisher = await openFactsPublisher(log, chain.name, committed);
  const height = committed?.height ?? null;
  const report = createDeriveReport({ chain: chain.name, height, logger, status: options.status });
  const watch = setInterval(() => void showTarget(options, report), TARGET_EVERY_MS);
  try {
    const writer = createBatchWriter({ chain: context, stores, lock, publisher, committed, crashPoint });
    await showTarget(options, report);
    report.state('catching_up');
    await foldLog({
      chain: context,
      log,
      stored: createStoredState(stores.postgres.pool, chain.name),
      writer,
      size: createBatchSize(options.batch),
      report,
      signal,
      atEnd: waitForBlocks(options, lock, report),
    });
  } finally {
    clearInterval(watch);
    await publisher.close();
  }
}

function waitForBlocks(
  { log, chain, signal }: DeriveOptions,
  lock: StageLock,
  report: DeriveReport,
): (position: number) => Promise<boolean> {
  let waited = Number.NEGATIVE_INFINITY;
  return async (position) => {
    await lock.inStep();
    report.state('following');
    const early = waited + GATHER_MS - performance.now();
    if (early > 0) await sleep(early, undefined, { signal });
    await log.waitFor('blocks', chain.name, position, WAIT_MS, signal);
    waited = performance.now();
    return true;
  };
}

async function showTarget({ log, chain, logger }: DeriveOptions, report: DeriveReport): Promise<void> {
  try {
    const last = await log.last('blocks', chain.name);
    report.target(last ? decodeBlocksRecord(last.payload).height : null);
  } catch (err) {
    logger.debug({ chain: chain.name, err }, 'the end of the log could not be read; the fold itself will say why');
  }
}
