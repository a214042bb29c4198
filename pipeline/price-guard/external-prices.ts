/** External prices of each currency, from the first configured feed that knows the currency; old prices are forgotten. */

import { parsePrice } from '../../domain/decimal.ts';
import type { Logger } from '../../infra/logger.ts';
import { type PriceFeed, PriceFeedFailed } from '../../infra/price-feeds/price-feed.ts';

export interface ExternalPrice {
  /** Scaled by 10^30. */
  readonly price: bigint;
  readonly source: string;
  /** Milliseconds since the epoch. */
  readonly checkedAt: number;
}

/** By currency id. */
export type ExternalPrices = Map<string, ExternalPrice>;

export interface AskOptions {
  /** In the order in which they are tried. */
  readonly feeds: readonly PriceFeed[];
  /** i-address → id of the feeds. */
  readonly ids: Readonly<Record<string, string>>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** A price that no feed has confirmed for this long no longer counts. */
const FORGET_MS = 15 * 60_000;
/** Decimals that are kept of a feed's price, which is a double. */
const FEED_DECIMALS = 20;

/** Queries all currencies at once; a price that no feed reports now is kept until it is too old. */
export async function refreshExternalPrices(known: ExternalPrices, options: AskOptions, now: number): Promise<void> {
  const { feeds, ids, logger, signal } = options;
  const wanted = new Map(Object.entries(ids));
  for (const feed of feeds) {
    if (wanted.size === 0) break;
    try {
      const answered = await feed.prices([...new Set(wanted.values())], signal);
      for (const [currencyId, id] of wanted) {
        const usd = answered.get(id);
        if (usd === undefined) continue;
        known.set(currencyId, { price: parsePrice(usd.toFixed(FEED_DECIMALS)), source: feed.source, checkedAt: now });
        wanted.delete(currencyId);
      }
    } catch (error) {
      if (!(error instanceof PriceFeedFailed)) throw error;
      logger.warn({ source: feed.source, code: error.code }, error.message);
    }
  }
  for (const [currencyId, { checkedAt }] of known) if (now - checkedAt > FORGET_MS) known.delete(currencyId);
}
