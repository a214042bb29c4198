/** The derive stage of a chain: folds its blocks into both stores and the facts topic, exactly once. */
import type { EventLog } from '../../infra/event-log/event-log.ts';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Logger } from '../../infra/logger.ts';
import { readStagePosition, type StagePosition } from '../../infra/postgres/stage-positions.ts';
import type { Stores } from '../../infra/stores.ts';
import type { Probe } from '../../processors/faults/derive-with-dead-letters.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { readBlocksRecord } from '../../schemas/log-codec.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { cutBackTo, holdsBlocks } from '../sinks/clickhouse/clickhouse-sink.ts';
import { waitOutInserts } from '../sinks/clickhouse/wait-out-inserts.ts';
import { rewindsAfter } from '../sinks/postgres/removed-blocks.ts';
import { type BatchBounds, createBatchSize } from '../stage/batch-size.ts';
import type { CrashPoint } from '../stage/crash-point.ts';
import { ownStage } from '../stage/own-stage.ts';
import { fencedBy, type StageLock } from '../stage/stage-lock.ts';
import { createStageReport, type StageReport } from '../stage/stage-report.ts';
import { createBatchWriter } from './batch-writer.ts';
import { checkLog } from './check-log.ts';
import { createDeadLetterReport } from './dead-letter-report.ts';
import { ClickHouseEmptied } from './derive-errors.ts';
import { openFactsPublisher } from './facts-publisher.ts';
import { DERIVE_LINES, foldLog } from './fold-log.ts';
import { pendingRedriveHeight, publishRedrive, REDRIVES_CHANNEL, requestRedrive, rewindForRedrive } from './redrive.ts';
import { createStoredState } from './stored-state.ts';

export interface DeriveOptions {
  readonly chain: ChainConfig;
  readonly nativeCurrencyId: string;
  readonly log: EventLog;
  /** Reader of the same log in this process; it gets the appended facts. */
  readonly topics?: Pick<TopicReader, 'hold'>;
  readonly stores: Stores;
  readonly logger: Logger;
  /** Called about once a second and at each change of state. */
  readonly status: (status: StageStatus) => void;
  /** Ends the stage after the current batch. */
  readonly signal: AbortSignal;
  /** Called when another owner has the chain, before the wait for its end. */
  readonly taken?: () => void;
  /** Called when this process has become the owner of the chain. */
  readonly owned?: () => void;
  /** The largest batch; results do not depend on it. */
  readonly batch?: Partial<BatchBounds>;
  /** For tests: throws to make the stage fail between two writes. */
  readonly crashPoint?: (point: CrashPoint) => void | Promise<void>;
  /** For tests: errors that it throws count as errors of a processor. */
  readonly probe?: Probe;
}

/** Longest wait for a new block, which ends the wait. */
const WAIT_MS = 5000;
const TARGET_EVERY_MS = 1000;
/** Poll for requests that a notification did not announce. */
const REDRIVE_EVERY_MS = 5000;
/**
 * When this many blocks arrive between two waits, the tailer is far behind its daemon. Derive then waits for GATHER, since a commit of
 * few blocks costs as much as a commit of many.
 */
const GATHER_FROM = 128;
const GATHER = { blocks: 1000, ms: 1000 };
/** More records than derive processes in the seconds until a write of ClickHouse reaches the disk. */
const UNFLUSHED_RECORDS = 20_000;

/**
 * Resolves when the signal aborts. After an error it may simply be called again.
 * @throws StageLockLost, StageFenced, LogEmpty (retryable); ClickHouseEmptied, LogBehindStores, LogDiffers, FactsBehindStores, errors of the processors
 */
export function runDerive(options: DeriveOptions): Promise<void> {
  const { chain, stores, signal, taken, owned } = options;
  return ownStage(
    { postgres: stores.postgres, stage: 'derive', chain: chain.name, signal, taken, owned },
    async (lock) => {
      const fenced = { ...options, stores: fencedBy(lock, stores) };
      const requests: Requests = { heard: () => undefined };
      await lock.listen(REDRIVES_CHANNEL, (name) => {
        if (name === chain.name) requests.heard();
      });
      while (!signal.aborted) await ownChain(fenced, lock, requests);
    },
  );
}

/** Redrive requests; the listener calls `heard` for each. */
interface Requests {
  heard: () => void;
}

/** Derives until the signal aborts or a redrive is requested. */
async function ownChain(options: DeriveOptions, lock: StageLock, requests: Requests): Promise<void> {
  const { chain, nativeCurrencyId, log, stores, logger, crashPoint, probe } = options;
  const asked = new AbortController();
  const signal = AbortSignal.any([options.signal, asked.signal]);
  const context = { name: chain.name, nativeCurrencyId, networkRoot: chain.networkRoot };
  const stored = await readStagePosition(stores.postgres.pool, 'derive', chain.name);
  await checkLog(log, chain.name, stored);
  await waitOutInserts(stores.clickhouse, signal);
  await alignClickHouse(options, stored);
  const redrive = { chain: chain.name, stores, lock, crashPoint };
  const committed = await rewindForRedrive(redrive, stored);
  const publisher = await openFactsPublisher(log, chain.name, committed, options.topics);
  const height = committed?.height ?? null;
  const report = createStageReport({ chain: chain.name, height, logger, status: options.status, lines: DERIVE_LINES });
  const deadLetters = createDeadLetterReport(stores.postgres.pool, chain.name, logger);
  let isOver = false;
  const showTarget = createTargetLook(options, report, () => isOver);
  const look = () => void lookForRedrive(options, asked);
  const timers = [setInterval(() => void showTarget(), TARGET_EVERY_MS), setInterval(look, REDRIVE_EVERY_MS)];
  requests.heard = look;
  look(); // for requests made since the rewind above
  try {
    await publishRedrive(redrive, publisher, committed);
    await deadLetters.count();
    const writer = createBatchWriter({ chain: context, stores, lock, publisher, committed, crashPoint });
    await showTarget();
    report.state('catching_up');
    await foldLog({
      chain: context,
      log,
      stored: createStoredState(stores.postgres.pool, chain.name),
      writer,
      size: createBatchSize(options.batch),
      report,
      logger,
      signal,
      deadLetters,
      probe,
      atEnd: waitForBlocks(options, lock, report, signal),
    });
  } catch (error) {
    // A redrive request ended the wait for blocks: all derived blocks are written, so the caller continues from there.
    if (!asked.signal.aborted || (error as { name?: unknown }).name !== 'AbortError') throw error;
  } finally {
    isOver = true;
    requests.heard = () => undefined;
    for (const timer of timers) clearInterval(timer);
    await publisher.close();
  }
}

/** Cuts ClickHouse, which has no transactions, back to the position in Postgres. @throws ClickHouseEmptied */
async function alignClickHouse({ chain, stores, logger }: DeriveOptions, stored: StagePosition | null): Promise<void> {
  if (!stored) return cutBackTo(stores.clickhouse, chain.name, -1);
  const { pool } = stores.postgres;
  // Deletes are not flushed: a power loss may have restored rows that the last rewinds removed.
  const rewinds = await rewindsAfter(pool, chain.name, stored.position - UNFLUSHED_RECORDS);
  await cutBackTo(stores.clickhouse, chain.name, stored.position, rewinds);
  const isWhole = await holdsBlocks(stores.clickhouse, chain.name);
  if (isWhole || (await pendingRedriveHeight(pool, chain.name)) === 0) return;
  // A URL may be wrong and a replica may lag, but the embedded engine always has the same folder.
  if (!stores.clickhouse.isOwn) throw new ClickHouseEmptied(chain.name, stored.height);
  const message = 'ClickHouse holds no block of the chain, and Postgres does: all facts are derived again from the log';
  logger.warn({ chain: chain.name, height: stored.height }, message);
  await requestRedrive(pool, chain.name, 0);
}

function waitForBlocks(
  { log, chain }: DeriveOptions,
  lock: StageLock,
  report: StageReport,
  signal: AbortSignal,
): (position: number) => Promise<boolean> {
  let reached = 0;
  return async (position) => {
    await lock.inStep();
    report.state('following');
    const isFarBehind = reached > 0 && position - reached >= GATHER_FROM;
    reached = position;
    if (isFarBehind) await log.waitFor('blocks', chain.name, position + GATHER.blocks - 1, GATHER.ms, signal);
    await log.waitFor('blocks', chain.name, position, WAIT_MS, signal);
    return true;
  };
}

async function lookForRedrive({ stores, chain, logger }: DeriveOptions, asked: AbortController): Promise<void> {
  try {
    if ((await pendingRedriveHeight(stores.postgres.pool, chain.name)) !== null) asked.abort();
  } catch (err) {
    logger.debug({ chain: chain.name, err }, 'the redrives to run could not be read; the next poll tries again');
  }
}

/** Reports the height at the end of the log, unless the fold has ended meanwhile: then the supervisor has already reported the end. */
function createTargetLook(
  { log, chain, logger }: DeriveOptions,
  report: StageReport,
  isOver: () => boolean,
): () => Promise<void> {
  let shown: number | null = null;
  return async () => {
    try {
      const last = await log.last('blocks', chain.name);
      if (isOver()) return;
      if (last?.position !== shown) report.target(last ? readBlocksRecord(last.payload).height : null);
      shown = last?.position ?? null;
      report.state('catching_up'); // the report keeps 'following' while the stage is near its target
    } catch (err) {
      logger.debug({ chain: chain.name, err }, 'the end of the log could not be read; the error of the fold says why');
    }
  };
}
