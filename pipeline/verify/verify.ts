/** Derives and prices chains again from the log into fresh stores and compares the result with the served stores. */
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import type { Logger } from '../../infra/logger.ts';
import { metrics } from '../../infra/metrics.ts';
import type { Stores } from '../../infra/stores.ts';
import type { ChainConfig, PricingConfig } from '../../schemas/config.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import { createBatchWriter } from '../derive/batch-writer.ts';
import { checkLog } from '../derive/check-log.ts';
import { LogBehindStores } from '../derive/derive-errors.ts';
import { openFactsPublisher } from '../derive/facts-publisher.ts';
import { DERIVE_LINES, foldLog } from '../derive/fold-log.ts';
import { createStoredState } from '../derive/stored-state.ts';
import { checkFoldedChains } from '../price/folded-chains.ts';
import { checkRules } from '../price/kept-rules.ts';
import { foldedRulesOf } from '../price/run-price.ts';
import { createBatchSize } from '../stage/batch-size.ts';
import type { StageLock } from '../stage/stage-lock.ts';
import { createStageReport } from '../stage/stage-report.ts';
import { DERIVE_TABLES, type DigestTable, PRICE_TABLES, tableName } from './digest-tables.ts';
import { openScratchLog } from './scratch-log.ts';
import { type ServedSnapshot, servedSnapshot } from './served-snapshot.ts';
import { type BeginTable, clickhouseDigests, type Digest, type Digests, digestsUntil } from './store-digests.ts';
import { type PriceProgress, type PriceSnapshot, refoldPrices, servedPrices } from './verify-prices.ts';

export interface VerifyOptions {
  readonly chains: readonly { readonly chain: ChainConfig; readonly nativeCurrencyId: string }[];
  readonly log: EventLog;
  readonly served: Stores;
  /** Opens migrated, empty scratch stores, whose `close` drops them. */
  readonly openFreshStores: () => Promise<Stores>;
  readonly pricing: PricingConfig;
  /** A folder for the newly derived facts, which are removed at the end. */
  readonly scratch: string;
  readonly logger: Logger;
  /** Called about once a second with the progress of a chain's derivation. */
  readonly progress?: (chain: string, status: StageStatus) => void;
  /** Called after each batch of prices. */
  readonly priceProgress?: (progress: PriceProgress) => void;
  /** Called before the digest of each table. */
  readonly digestProgress?: (progress: DigestProgress) => void;
  readonly signal: AbortSignal;
}

export interface DigestProgress {
  /** The chain; `*` for all chains together. */
  readonly chain: string;
  readonly of: 'served' | 'derived again';
  /** `postgres.blocks`, `clickhouse.blocks` … */
  readonly table: string;
  /** Its number among `tables` tables, from 1. */
  readonly number: number;
  readonly tables: number;
}

export interface VerifiedTable {
  /** The chain; `*` for all chains together. */
  readonly chain: string;
  /** `postgres.blocks`, `clickhouse.blocks` … */
  readonly table: string;
  /** Newest block that was compared. */
  readonly height: number;
  readonly equal: boolean;
  readonly served: Digest;
  readonly fresh: Digest;
}

const NOTHING: Digest = { rows: 0, digest: '' };

/**
 * Yields one result for each chain and table, one chain at a time. The service may keep running: each chain is compared as it was when its
 * turn came. Throws the signal's reason when aborted; the fresh stores are dropped in any case.
 */
export async function* verify(given: VerifyOptions): AsyncGenerator<VerifiedTable, void> {
  const options = { ...given, served: readUntil(given.signal, given.served) };
  const { pool } = options.served.postgres;
  const chains = pricedChains(options);
  await checkFoldedChains(pool, chains);
  await checkRules(pool, foldedRulesOf(chains, options.pricing));
  const begin = beginOf(options, ALL_CHAINS, 'served', PRICE_TABLES);
  const prices = await servedPrices(options.served, options.signal, begin);
  const fresh = await options.openFreshStores();
  try {
    const facts = await openScratchLog(options.scratch);
    try {
      yield* verifyIn(options, { fresh: readUntil(options.signal, fresh), facts, prices });
    } finally {
      await facts.drop();
    }
  } finally {
    await fresh.close();
  }
}

/** Lets `signal` cancel the reads of ClickHouse: to digest a table may take minutes. */
function readUntil(signal: AbortSignal, stores: Stores): Stores {
  const { clickhouse } = stores;
  const rows: ClickHouse['rows'] = (reader, sql, params, bounds) =>
    clickhouse.rows(reader, sql, params, bounds, signal);
  return { ...stores, clickhouse: { ...clickhouse, rows } };
}

interface Again {
  readonly fresh: Stores;
  readonly facts: EventLog;
  /** The served prices at the start. */
  readonly prices: PriceSnapshot | null;
}

async function* verifyIn(options: VerifyOptions, { fresh, facts, prices }: Again): AsyncGenerator<VerifiedTable, void> {
  const { log, served, signal } = options;
  for (const { chain, nativeCurrencyId } of options.chains) {
    const { name } = chain;
    const snapshot = await servedSnapshot(served, log, name, signal, beginOf(options, name, 'served', DERIVE_TABLES));
    if (!snapshot) continue;
    await checkLog(log, name, snapshot.at);
    await deriveAgain(options, chain, nativeCurrencyId, fresh, facts, snapshot);
    signal.throwIfAborted();
    const begin = beginOf(options, name, 'derived again', DERIVE_TABLES);
    const again = {
      ...(await digestsUntil(fresh.postgres.pool, signal, DERIVE_TABLES, { chain: name }, begin)),
      ...(await clickhouseDigests(fresh.clickhouse, DERIVE_TABLES, { chain: name }, begin)),
    };
    yield* compare(name, snapshot.at.height, snapshot.digests, again);
  }
  if (!prices) return;
  const { pricing: config, logger, priceProgress: progress } = options;
  const chains = pricedChains(options);
  const lock = nobodyElse(fresh);
  const begin = beginOf(options, ALL_CHAINS, 'derived again', PRICE_TABLES);
  const again = await refoldPrices({ chains, config, facts, fresh, lock, logger, progress, begin, signal }, prices);
  yield* compare(ALL_CHAINS, prices.height, prices.digests, again);
}

/** Reports each table, and ends the digests once the signal has aborted. */
function beginOf(
  { signal, digestProgress }: VerifyOptions,
  chain: string,
  of: DigestProgress['of'],
  all: readonly DigestTable[],
): BeginTable {
  const names = all.map(tableName);
  return (table) => {
    signal.throwIfAborted();
    digestProgress?.({ chain, of, table, number: names.indexOf(table) + 1, tables: names.length });
  };
}

const pricedChains = ({ chains }: VerifyOptions) =>
  chains.map(({ chain, nativeCurrencyId }) => ({ ...chain, nativeCurrencyId }));

function* compare(chain: string, height: number, served: Digests, again: Digests): Generator<VerifiedTable, void> {
  let different = 0;
  for (const [table, digest] of Object.entries(served)) {
    const fresh = again[table] ?? NOTHING;
    const equal = fresh.rows === digest.rows && fresh.digest === digest.digest;
    if (!equal) different++;
    yield { chain, table, height, equal, served: digest, fresh };
  }
  metrics.digestMismatches.set({ chain, check: 'verify' }, different);
}

async function deriveAgain(
  { log, logger, progress, signal }: VerifyOptions,
  chain: ChainConfig,
  nativeCurrencyId: string,
  fresh: Stores,
  facts: EventLog,
  { at }: ServedSnapshot,
): Promise<void> {
  const context = { name: chain.name, nativeCurrencyId, networkRoot: chain.networkRoot };
  const status = (shown: StageStatus): void => progress?.(chain.name, shown);
  const report = createStageReport({ chain: chain.name, logger, status, lines: DERIVE_LINES });
  report.target(at.height);
  report.state('catching_up');
  const publisher = await openFactsPublisher(facts, chain.name, null);
  await foldLog({
    chain: context,
    log,
    stored: createStoredState(fresh.postgres.pool, chain.name),
    writer: createBatchWriter({
      chain: context,
      stores: fresh,
      lock: nobodyElse(fresh),
      publisher,
      committed: null,
    }),
    size: createBatchSize(),
    report,
    logger,
    signal,
    until: at.position,
    atEnd: async (position) => {
      throw new LogBehindStores(chain.name, at.position, position - 1);
    },
  }).finally(() => publisher.close());
}

/** A lock without effect: fresh stores have no other owner to fence. */
function nobodyElse({ postgres }: Stores): StageLock {
  const nothing = async (): Promise<void> => undefined;
  return {
    transaction: (work) => postgres.transaction(work),
    inStep: nothing,
    listen: nothing,
    prove: nothing,
    release: nothing,
  };
}
