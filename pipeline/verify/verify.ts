/** Derives chains again from the log into fresh stores and compares them with what is served. */
import type { EventLog } from '../../infra/event-log/event-log.ts';
import type { Logger } from '../../infra/logger.ts';
import { metrics } from '../../infra/metrics.ts';
import type { Stores } from '../../infra/stores.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { createBatchSize } from '../derive/batch-size.ts';
import { createBatchWriter } from '../derive/batch-writer.ts';
import { checkLog } from '../derive/check-log.ts';
import { LogBehindStores } from '../derive/derive-errors.ts';
import { createDeriveReport } from '../derive/derive-report.ts';
import { foldLog } from '../derive/fold-log.ts';
import { createStoredState } from '../derive/stored-state.ts';
import type { StageLock } from '../stage-lock.ts';
import { DERIVE_TABLES } from './digest-tables.ts';
import { type ServedSnapshot, servedSnapshot } from './served-snapshot.ts';
import { clickhouseDigests, type Digest, postgresDigests } from './store-digests.ts';

export interface VerifyOptions {
  readonly chains: readonly { readonly chain: ChainConfig; readonly nativeCurrencyId: string }[];
  readonly log: EventLog;
  readonly served: Stores;
  /** Migrated and empty, beside the served ones; their `close` drops them. */
  readonly openFreshStores: () => Promise<Stores>;
  readonly logger: Logger;
  /** Told about once a second how far the derivation of a chain is. */
  readonly progress?: (chain: string, status: StageStatus) => void;
  readonly signal: AbortSignal;
}

export interface VerifiedTable {
  readonly chain: string;
  /** `postgres.blocks`, `clickhouse.blocks` … */
  readonly table: string;
  /** Newest block that both hold. */
  readonly height: number;
  readonly equal: boolean;
  readonly served: Digest;
  readonly fresh: Digest;
}

const NOTHING: Digest = { rows: 0, digest: '' };

/**
 * One answer a chain and table, a chain at a time. The service may go on meanwhile: each chain is compared as it stood when
 * its turn came. Throws the signal's reason when aborted; the fresh stores are dropped in any case.
 */
export async function* verify(options: VerifyOptions): AsyncGenerator<VerifiedTable, void> {
  const { log, served, signal } = options;
  const fresh = await options.openFreshStores();
  try {
    for (const { chain, nativeCurrencyId } of options.chains) {
      const snapshot = await servedSnapshot(served, log, chain.name);
      if (!snapshot) continue;
      await checkLog(log, chain.name, snapshot.at);
      await deriveAgain(options, chain, nativeCurrencyId, fresh, snapshot);
      signal.throwIfAborted();
      const again = {
        ...(await postgresDigests(fresh.postgres.pool, DERIVE_TABLES, chain.name)),
        ...(await clickhouseDigests(fresh.clickhouse, DERIVE_TABLES, { chain: chain.name })),
      };
      let different = 0;
      for (const [table, digest] of Object.entries(snapshot.digests)) {
        const other = again[table] ?? NOTHING;
        const equal = other.rows === digest.rows && other.digest === digest.digest;
        if (!equal) different++;
        yield { chain: chain.name, table, height: snapshot.at.height, equal, served: digest, fresh: other };
      }
      metrics.digestMismatches.set({ chain: chain.name, check: 'verify' }, different);
    }
  } finally {
    await fresh.close();
  }
}

async function deriveAgain(
  { log, logger, progress, signal }: VerifyOptions,
  chain: ChainConfig,
  nativeCurrencyId: string,
  fresh: Stores,
  { at }: ServedSnapshot,
): Promise<void> {
  const context = { name: chain.name, nativeCurrencyId, networkRoot: chain.networkRoot };
  const status = (shown: StageStatus): void => progress?.(chain.name, shown);
  const report = createDeriveReport({ chain: chain.name, height: null, logger, status });
  report.target(at.height);
  report.state('catching_up');
  await foldLog({
    chain: context,
    log,
    stored: createStoredState(fresh.postgres.pool, chain.name),
    writer: createBatchWriter({
      chain: context,
      stores: fresh,
      lock: nobodyElse(fresh),
      publisher: null,
      committed: null,
    }),
    size: createBatchSize(),
    report,
    signal,
    until: at.position,
    atEnd: async (position) => {
      throw new LogBehindStores(chain.name, at.position, position - 1);
    },
  });
}

/** Fresh stores have no other owner to fence. */
function nobodyElse({ postgres }: Stores): StageLock {
  const nothing = async (): Promise<void> => undefined;
  return { transaction: (work) => postgres.transaction(work), inStep: nothing, release: nothing };
}
