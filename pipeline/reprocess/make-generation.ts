/**
 * Makes a generation from the stores while the fold continues: first the prices of all ticks, together with the few stamps of transfers
 * without a known payout; then all other stamps, by statements of ClickHouse, then their copy in Postgres, then tick by tick the ticks that
 * were added since, until the fold takes over. docs/decisions/0018-reprocess.md.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { CsvValue } from '../../infra/clickhouse/csv.ts';
import type { Logger } from '../../infra/logger.ts';
import { notifyFollowers } from '../../infra/postgres/position-moves.ts';
import type { Stores } from '../../infra/stores.ts';
import type { PricingRules } from '../../processors/pricing/price-fold.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import { deleteFrom, insertRows, replaceConversions } from '../price/clickhouse-prices.ts';
import { type Generation, readGenerations, withRanges } from '../price/generations.ts';
import { writeKept } from '../price/postgres-prices.ts';
import type { PriceChain } from '../price/price-chain.ts';
import { isNotAtRest, pauseStages } from '../stage/pause-stages.ts';
import type { StageLock } from '../stage/stage-lock.ts';
import { createYield } from '../stage/yield-to-event-loop.ts';
import { writeStamps } from './copy-stamps.ts';
import { holdProgress, type Progress, readProgress, writeProgress } from './progress.ts';
import { isAwaited } from './rows-beyond.ts';
import { clockDays, hasBackfill, isWhole, stampAll } from './stamp-all.ts';
import { writeStampBounds } from './stamp-bounds.ts';
import { createStampCopies } from './stamp-copies.ts';
import { gatheringStampPrices, STAMP_PRICE_COLUMNS } from './stamp-prices.ts';
import { openStoredFold, ReprocessDisturbed, type StoredFold } from './stored-fold.ts';

class GenerationDropped extends PermanentError {
  constructor(generation: number) {
    super('generation_dropped', `Generation ${generation} was dropped while it was being made.`);
  }
}

export interface MakeOptions {
  readonly generation: Generation;
  /** Generation whose conversions are stamped again; the fold must write it. */
  readonly base: number;
  readonly chains: readonly PriceChain[];
  readonly rules: PricingRules;
  readonly stores: Pick<Stores, 'postgres' | 'clickhouse'>;
  /** Lock of `reprocess`, so that one generation is made at a time. */
  readonly lock: StageLock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly limits?: MakeLimits;
}

export interface MakeLimits {
  /** Blocks of one batch; a rewind waits for the batch. */
  readonly maxTicks: number;
  readonly maxQueued: number;
  /** Stamps that are copied in one transaction, plus the remaining stamps of the last tick. */
  readonly maxCopied: number;
  /** Within this many ticks of the fold, the rest is made while the fold waits. */
  readonly near: number;
}

export type Phase = 'prices' | 'stamps' | 'copy' | 'follow';
export interface ReprocessStep {
  readonly phase: Phase;
  readonly progress: Progress;
}

export interface GenerationMaker {
  /**
   * Does one transaction of work; returns null when the generation is ready. Ends with `signal`; committed work stays.
   * @throws GenerationDropped; ReprocessDisturbed when the fold does not follow; errors of the stores
   */
  step(): Promise<ReprocessStep | null>;
}

const LIMITS: MakeLimits = { maxTicks: 2000, maxQueued: 5000, maxCopied: 25_000, near: 200 };
const MOST_TRIES = 40;
const RETRY_MS = 250;

/** The next phase. Ticks that exist when prices get near the fold are stamped at once; later ticks one by one. */
function phaseAfter({ priced, stamped, copied, newest }: Progress, near: number): Phase {
  if (copied < stamped) return 'copy';
  if (stamped >= 0 || newest < 0) return 'follow';
  return priced < 0 || newest - priced > near ? 'prices' : 'stamps';
}

/** Folds prices, and later the ticks that were added since, into the rows of the generation. */
function createBatchFold({ generation: made, chains, stores, signal, limits = LIMITS, ...options }: MakeOptions) {
  const { postgres, clickhouse } = stores;
  const { generation } = made;
  const rules = withRanges(options.rules, made.ranges);
  const yieldToEventLoop = createYield(signal);
  const gathered: (readonly CsvValue[])[] = [];
  let fold: { readonly phase: Phase; readonly undone: number; readonly stored: StoredFold } | null = null;

  /** Returns a fold that continues after the generation's rows; deletes rows that an earlier run left beyond them. */
  async function foldOf(phase: 'prices' | 'follow', { priced, undone }: Progress): Promise<StoredFold> {
    if (fold?.phase === phase && fold.undone === undone && fold.stored.tick === priced) return fold.stored;
    fold = null;
    gathered.length = 0;
    await deleteFrom(clickhouse, priced + 1, generation);
    const stored = await openStoredFold(
      {
        postgres,
        generation,
        chains,
        rules,
        withSettled: phase === 'follow',
        maxTicks: limits.maxTicks,
        maxQueued: limits.maxQueued,
        yieldToEventLoop,
        ...(phase === 'prices' && { watch: (made) => gatheringStampPrices(made, generation, gathered) }),
      },
      priced,
    );
    // A crash may have happened between ClickHouse's correction of a stamp and the commit that makes it count.
    await replaceConversions(clickhouse, generation, stored.open);
    fold = { phase, undone, stored };
    return stored;
  }

  /** Writes the rows of one batch to both stores; the caller has locked the progress. */
  async function foldOn(client: PoolClient, phase: 'prices' | 'follow', progress: Progress): Promise<number> {
    const stored = await foldOf(phase, progress);
    fold = null; // opened again unless everything succeeds
    const { ticks, folded } = await stored.next(progress.newest);
    for (const rows of folded) {
      await insertRows(clickhouse, rows);
      await writeKept(client, ticks, rows, stored.cursors);
    }
    await clickhouse.insert('stamp_prices', STAMP_PRICE_COLUMNS, gathered.splice(0));
    fold = { phase, undone: progress.undone, stored };
    return stored.tick;
  }

  return {
    foldOn,
    /** Makes the next batch open the fold again. */
    forget(): void {
      fold = null;
    },
  };
}

export function createGenerationMaker(options: MakeOptions): GenerationMaker {
  const { base, chains, stores, lock, logger, signal, limits = LIMITS } = options;
  const { postgres, clickhouse } = stores;
  const { generation } = options.generation;
  const { foldOn, forget } = createBatchFold(options);
  const copies = createStampCopies({ generation, chains, stores, most: limits.maxCopied });
  async function price(progress: Progress): Promise<void> {
    await lock.transaction(async (client) => {
      if (!(await holdProgress(client, generation, progress.undone))) return;
      await writeProgress(client, generation, { priced: await foldOn(client, 'prices', progress) });
    });
  }

  async function stamp(progress: Progress): Promise<void> {
    const high = progress.priced;
    await writeStampBounds(postgres, clickhouse, generation);
    const days = await clockDays(postgres, chains, high);
    const all = { generation, base, high, days, hasBackfill: await hasBackfill(clickhouse, generation) };
    await stampAll(clickhouse, all);
    await lock.transaction(async (client) => {
      if (!(await holdProgress(client, generation, progress.undone))) return;
      if (!(await isWhole(postgres, clickhouse, all))) throw new ReprocessDisturbed('Stamps were corrected meanwhile');
      await writeProgress(client, generation, { stamped: high });
    });
  }

  const copy = (progress: Progress): Promise<void> =>
    copies.next(progress, ({ high, text }) =>
      lock.transaction(async (client) => {
        if (!(await holdProgress(client, generation, progress.undone))) return;
        await writeStamps(client, text);
        await writeProgress(client, generation, { copied: high });
      }),
    );

  /** Near the fold, the generation becomes ready in the transaction that catches up. */
  async function follow(progress: Progress): Promise<void> {
    const isNear = progress.newest - progress.priced <= limits.near;
    await lock.transaction(async (client) => {
      if (isNear) await pauseStages(client, [{ stage: 'price', chain: ALL_CHAINS }], '10min');
      if (!(await holdProgress(client, generation, progress.undone))) return;
      const now = (await readProgress(client, generation)) ?? progress;
      const reached = await foldOn(client, 'follow', now);
      await writeProgress(client, generation, { priced: reached, stamped: reached, copied: reached });
      if (!isNear || reached < now.newest) return;
      await client.query('DELETE FROM reprocessing WHERE generation = $1', [generation]);
      await client.query(notifyFollowers('derive')); // wakes the fold, which waits for derive
    });
  }

  async function isThere(): Promise<boolean> {
    return (await readGenerations(postgres.pool)).some((one) => one.generation === generation);
  }

  async function once(progress: Progress): Promise<Phase> {
    const phase = phaseAfter(progress, limits.near);
    await { prices: price, stamps: stamp, copy, follow }[phase](progress);
    return phase;
  }

  return {
    async step() {
      for (let tries = 1; ; tries++) {
        signal.throwIfAborted();
        const progress = await readProgress(postgres.pool, generation);
        if (!progress) {
          if (!(await isThere())) throw new GenerationDropped(generation);
          if (tries < MOST_TRIES && (await isAwaited(postgres, { base, generation }))) {
            await sleep(RETRY_MS, undefined, { signal });
            continue;
          }
          for (const table of ['stamp_prices', 'stamp_bounds']) {
            await clickhouse.command(`ALTER TABLE ${table} DROP PARTITION ${generation}`);
          }
          return null;
        }
        try {
          const phase = await once(progress);
          return { phase, progress: (await readProgress(postgres.pool, generation)) ?? { ...progress } };
        } catch (error) {
          const isPassing = error instanceof ReprocessDisturbed || isNotAtRest(error);
          if (!isPassing || tries === MOST_TRIES) throw error;
          logger.debug({ err: error }, 'reprocess: trying again');
          forget();
          await sleep(RETRY_MS, undefined, { signal });
        }
      }
    },
  };
}
