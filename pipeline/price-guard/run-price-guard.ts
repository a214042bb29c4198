/** Compares the published prices with external feeds for as long as the program runs. One process does it at a time. */
import { once } from 'node:events';
import type { Logger } from '../../infra/logger.ts';
import { createPriceFeed, type PriceFeed } from '../../infra/price-feeds/price-feed.ts';
import { pause, repeatUntil } from '../../infra/repeat-until.ts';
import type { Stores } from '../../infra/stores.ts';
import type { Config, PricingConfig } from '../../schemas/config.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import type { PriceChain } from '../price/price-chain.ts';
import { pricingRules } from '../price/run-price.ts';
import { ownStage } from '../stage/own-stage.ts';
import type { StageLock } from '../stage/stage-lock.ts';
import { forgetGuards } from './guard-store.ts';
import { openGuard } from './open-guard.ts';

export interface PriceGuardOptions {
  readonly chains: readonly PriceChain[];
  readonly config: PricingConfig & Pick<Config, 'priceFeedUrls' | 'priceFeedIds'>;
  readonly stores: Pick<Stores, 'postgres'>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Milliseconds between looks at the prices, and between queries to the feeds. */
  readonly every?: { readonly passMs: number; readonly askMs: number };
}

const EVERY = { passMs: 2000, askMs: 300_000 };
const AFTER_FAILURE_MS = 5000;

/** Resolves when the signal aborts. Without a feed it removes what an earlier guard has stored, and waits. */
export async function runPriceGuard(options: PriceGuardOptions): Promise<void> {
  const { config, stores, logger, signal } = options;
  const feeds = config.priceFeedUrls.map((url) => createPriceFeed(url));
  try {
    const owner = { postgres: stores.postgres, stage: 'price_guard', chain: ALL_CHAINS, signal } as const;
    const work = async (lock: StageLock) =>
      feeds.length > 0 ? guard(options, feeds, lock) : lock.transaction(forgetGuards);
    const own = async () => {
      await ownStage(owner, work);
      if (!signal.aborted) await once(signal, 'abort');
    };
    await repeatUntil(signal, own, {
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
  const { ask, look } = await openGuard({ guarded, feeds, config, stores, lock, logger, signal });
  let askAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    if (performance.now() >= askAt) {
      await ask(Date.now());
      askAt = performance.now() + every.askMs;
    }
    await look();
    await pause(every.passMs, signal);
  }
}
