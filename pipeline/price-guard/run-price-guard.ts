/** Watches the published prices over external feeds for as long as the program runs. One process does it at a time. */
import type { Logger } from '../../infra/logger.ts';
import { createPriceFeed, type PriceFeed } from '../../infra/price-feeds/price-feed.ts';
import { pause, repeatUntil } from '../../infra/repeat-until.ts';
import type { Stores } from '../../infra/stores.ts';
import type { Config, PricingConfig } from '../../schemas/config.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import type { PriceChain } from '../price/price-chain.ts';
import { pricingRules } from '../price/run-price.ts';
import { ownStage } from '../stage/own-stage.ts';
import { inSnapshot } from '../stage/snapshot.ts';
import type { StageLock } from '../stage/stage-lock.ts';
import { refreshExternalPrices } from './external-prices.ts';
import { type GuardMemory, guardPass } from './guard-pass.ts';
import { type GuardRow, readGuards, writeGuards } from './guard-store.ts';

export interface PriceGuardOptions {
  readonly chains: readonly PriceChain[];
  readonly config: PricingConfig & Pick<Config, 'priceFeedUrls' | 'priceFeedIds'>;
  readonly stores: Pick<Stores, 'postgres'>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Milliseconds between looks at the prices, and between questions to the feeds. */
  readonly every?: { readonly passMs: number; readonly askMs: number };
}

const EVERY = { passMs: 2000, askMs: 300_000 };
const AFTER_FAILURE_MS = 5000;

/** Resolves when the signal aborts; at once when no feed is configured. */
export async function runPriceGuard(options: PriceGuardOptions): Promise<void> {
  const { config, stores, logger, signal } = options;
  if (config.priceFeedUrls.length === 0) return;
  const feeds = config.priceFeedUrls.map((url) => createPriceFeed(url));
  try {
    const owner = { postgres: stores.postgres, stage: 'price_guard', chain: ALL_CHAINS, signal } as const;
    await repeatUntil(signal, () => ownStage(owner, (lock) => guard(options, feeds, lock)), {
      retryMs: AFTER_FAILURE_MS,
      onError: (err) => logger.warn({ err }, 'the price guard restarts'),
    });
  } finally {
    await Promise.all(feeds.map((feed) => feed.close()));
  }
}

async function guard(options: PriceGuardOptions, feeds: readonly PriceFeed[], lock: StageLock): Promise<void> {
  const { chains, config, stores, logger, signal, every = EVERY } = options;
  const guarded = { chains, rules: pricingRules(chains, config) };
  const { external, good } = await readGuards(stores.postgres.pool);
  const memory: GuardMemory = { external, good, replaced: new Map() };
  let written = '';
  let rejected: ReadonlySet<string> = new Set();
  let askAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    if (performance.now() >= askAt) {
      await refreshExternalPrices(external, { feeds, ids: config.priceFeedIds, logger, signal }, Date.now());
      askAt = performance.now() + every.askMs;
    }
    // Not on the session of the lock, whose transactions begin with a question.
    const rows = await inSnapshot(stores.postgres, (client) => guardPass(client, guarded, memory));
    const text = rows && fingerprint(rows);
    if (rows && text !== null && text !== written) {
      await lock.transaction((client) => writeGuards(client, rows));
      rejected = warnOfRejected(rows, rejected, logger);
      written = text;
    }
    await pause(every.passMs, signal);
  }
}

function fingerprint(rows: readonly GuardRow[]): string {
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}

/** Says which prices are rejected that were not before; returns all that are. */
function warnOfRejected(rows: readonly GuardRow[], before: ReadonlySet<string>, logger: Logger): ReadonlySet<string> {
  const rejected = rows.filter(({ verdict }) => verdict.status === 'rejected');
  for (const { currencyId, external } of rejected) {
    if (before.has(currencyId)) continue;
    const source = external?.source ?? null;
    logger.warn({ currencyId, source }, 'a price was rejected: the last accepted one stays published');
  }
  return new Set(rejected.map(({ currencyId }) => currencyId));
}
