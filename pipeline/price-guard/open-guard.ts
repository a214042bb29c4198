/** The work of the guard's owner: queries the feeds, judges the newest prices and stores what has changed. */
import type { Logger } from '../../infra/logger.ts';
import type { PriceFeed } from '../../infra/price-feeds/price-feed.ts';
import type { Stores } from '../../infra/stores.ts';
import type { Config } from '../../schemas/config.ts';
import { inSnapshot } from '../stage/snapshot.ts';
import type { StageLock } from '../stage/stage-lock.ts';
import { refreshExternalPrices } from './external-prices.ts';
import { type GuardMemory, guardPass } from './guard-pass.ts';
import { type GuardRow, readGuards, writeGoodPrices, writeGuards } from './guard-store.ts';
import type { GuardedChains } from './without-off-peg.ts';

export interface GuardOptions {
  readonly guarded: GuardedChains;
  readonly feeds: readonly PriceFeed[];
  readonly config: Pick<Config, 'priceFeedIds'>;
  readonly stores: Pick<Stores, 'postgres'>;
  readonly lock: Pick<StageLock, 'transaction'>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export interface Guard {
  /** Queries the feeds and keeps their prices. `now`: milliseconds since the epoch. */
  ask(now: number): Promise<void>;
  look(): Promise<void>;
}

/** Continues from what an earlier guard has stored. */
export async function openGuard(options: GuardOptions): Promise<Guard> {
  const { guarded, feeds, stores, lock, logger, signal } = options;
  const ids = options.config.priceFeedIds;
  const { external, good } = await readGuards(stores.postgres.pool, Object.keys(ids));
  const memory: GuardMemory = { external, good, replaced: new Map() };
  let written = '';
  let goodWritten: ReadonlyMap<string, string> = new Map();
  let rejected: ReadonlySet<string> = new Set();
  return {
    ask: (now) => refreshExternalPrices(external, { feeds, ids, logger, signal }, now),

    async look() {
      // Not on the session of the lock, whose transactions begin with a query.
      const rows = await inSnapshot(stores.postgres, (client) => guardPass(client, guarded, memory));
      if (!rows) return;
      const text = fingerprint(rows);
      const goodTexts = new Map([...good].map(([currencyId, price]) => [currencyId, fingerprint(price)]));
      const better = [...good].filter(([currencyId]) => goodTexts.get(currencyId) !== goodWritten.get(currencyId));
      if (text === written && better.length === 0) return;
      await lock.transaction(async (client) => {
        await writeGoodPrices(client, better);
        if (text !== written) await writeGuards(client, rows);
      });
      rejected = warnOfRejected(rows, rejected, logger);
      written = text;
      goodWritten = goodTexts;
    },
  };
}

function fingerprint(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));
}

/** Warns of prices that are newly rejected; returns all rejected ones. */
function warnOfRejected(rows: readonly GuardRow[], before: ReadonlySet<string>, logger: Logger): ReadonlySet<string> {
  const rejected = rows.filter(({ verdict }) => verdict.status === 'rejected');
  for (const { currencyId, external, verdict } of rejected) {
    if (before.has(currencyId)) continue;
    const instead = verdict.published
      ? 'the last accepted one stays published'
      : 'none was ever accepted, so it is shown';
    logger.warn({ currencyId, source: external?.source ?? null }, `a price was rejected: ${instead}`);
  }
  return new Set(rejected.map(({ currencyId }) => currencyId));
}
