/** The webhooks that receive events now, compiled. */

import type { PoolClient } from 'pg';
import { IS_NOT_REVOKED_SQL, IS_REVOKED_SQL } from '../../domain/identity-status.ts';
import type { Logger } from '../../infra/logger.ts';
import { createPace, type Pace } from '../../infra/pace.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { shared } from '../../infra/shared.ts';
import { TIERS } from '../../schemas/config.ts';
import type { FeedKey } from '../push/cursor.ts';
import { hasCurrencyNames, isCurrencyName } from '../push/filter-size.ts';
import type { Names } from '../push/names.ts';
import {
  amongConfigured,
  createInterest,
  type Interest,
  parseWebhookSubscription,
  type WebhookSubscription,
} from './webhook.ts';

export interface ActiveWebhook extends Interest {
  readonly id: string;
  /** Further blocks on top of an event's block before the event is sent. */
  readonly confirmations: number;
  /** The webhook receives events after this mark of the topic; −1 if the topic was empty. */
  readonly since: number;
}

export interface ActiveWebhooks {
  /**
   * Refreshes the currency names and compiles the webhooks, with rests. Call it before a transaction, which would stay open meanwhile.
   * @throws errors of Postgres
   */
  prepare(): Promise<void>;
  /** Reads the active webhooks, with `since` of the feed. Names have the meaning of the last `prepare`, or a later one. */
  read(client: PoolClient, feed: FeedKey | null): Promise<readonly ActiveWebhook[]>;
}

const OF_OWNER = 'chain = w.chain AND identity_address = w.identity_address';
const HAS_TIER_SQL = `w.enabled AND EXISTS (SELECT FROM identity_tiers WHERE ${OF_OWNER} AND tier = '${TIERS.at(-1)}')`;
const STANDING = `${OF_OWNER} AND to_height IS NULL`;
/**
 * SQL condition on a webhook `w`. An owner that is revoked, has lost the tier, or is on none of `chains` (an SQL expression), where a
 * revocation would not be seen, receives nothing: neither new events nor waiting deliveries.
 */
export const mayReceiveSql = (chains: string): string => `${HAS_TIER_SQL} AND w.chain = ANY(${chains})
    AND EXISTS (SELECT FROM identities WHERE ${STANDING} AND ${IS_NOT_REVOKED_SQL})`;
/**
 * SQL condition on a webhook `w` that new events are stored for. While the owner's chain is derived again, the identity may be missing: deliveries
 * are created meanwhile, and wait.
 */
export const isActiveSql = (chains: string): string => `${HAS_TIER_SQL} AND w.chain = ANY(${chains})
    AND NOT EXISTS (SELECT FROM identities WHERE ${STANDING} AND ${IS_REVOKED_SQL})`;
const ACTIVE_SQL = `SELECT w.id, w.asked, w.confirmations, coalesce((w.since ->> $1)::bigint, -1) AS since
  FROM webhooks w WHERE ${isActiveSql('$2')} ORDER BY w.id`;

const NOTHING: Interest = { kindOf: () => null, hears: () => false, thresholds: [] };

const readActive = rowReader({
  id: columns.text,
  asked: columns.text,
  confirmations: columns.number,
  since: columns.bigint,
});
type Registration = Pick<RowRead<typeof readActive>, 'id' | 'asked'>;

interface Compiled {
  readonly interest: Interest;
  /** Version of the names when it was compiled; null if it names no currency. */
  readonly version: number | null;
}

export interface ActiveWebhooksOptions {
  readonly chains: readonly string[];
  readonly postgres: Postgres;
  readonly names: Pick<Names, 'idsOf' | 'refresh' | 'version'>;
  readonly logger: Logger;
  /** For tests. */
  readonly pace?: Pace;
}

/** Hashing the names of one registration may take 70 ms; all of them together take at most half of the process' time. */
const PACE = { sliceMs: 5, restMs: 5 };

/** Compiles each text of a registration once, and one with currency names again when names may mean other currencies. */
export function createActiveWebhooks(options: ActiveWebhooksOptions): ActiveWebhooks {
  const { chains, postgres, names, logger, pace = createPace(PACE) } = options;
  const kept = new Map<string, Compiled>();
  let preparedAt: number | null = null;

  /** A webhook registered under older rules may fail today's; it must not block the others. */
  function compile({ id, asked }: Registration): Compiled {
    const version = names.version();
    try {
      const subscription = amongConfigured(parseWebhookSubscription(asked), chains);
      const interest = createInterest(subscription, chains, names.idsOf);
      return { interest, version: namesCurrencies(subscription) ? version : null };
    } catch (err) {
      logger.error({ err, webhook: id }, 'the subscription of this webhook can no longer be served');
      return { interest: NOTHING, version };
    }
  }

  async function compileInTurn(registration: Registration): Promise<Compiled> {
    if (pace.isSpent()) await pace.rest();
    const compiled = compile(registration);
    kept.set(registration.asked, compiled);
    return compiled;
  }

  function keepOnly(registrations: readonly Registration[]): void {
    const used = new Set(registrations.map(({ asked }) => asked));
    for (const asked of kept.keys()) if (!used.has(asked)) kept.delete(asked);
  }

  const prepare = shared(async () => {
    await names.refresh();
    const version = names.version();
    if (preparedAt === version) return;
    const registrations = await readRows(postgres.pool, readActive, ACTIVE_SQL, [null, chains]);
    keepOnly(registrations);
    for (const registration of registrations) {
      const before = kept.get(registration.asked);
      if (!before || (before.version !== null && before.version !== names.version())) await compileInTurn(registration);
    }
    preparedAt = version;
  });

  return {
    prepare,
    async read(client, feed) {
      const rows = await readRows(client, readActive, ACTIVE_SQL, [feed, chains]);
      const active: ActiveWebhook[] = [];
      for (const row of rows) {
        const { interest } = kept.get(row.asked) ?? (await compileInTurn(row));
        active.push({ id: row.id, confirmations: row.confirmations, since: Number(row.since), ...interest });
      }
      keepOnly(rows);
      return active;
    },
  };
}

function namesCurrencies({ filter, thresholds }: WebhookSubscription): boolean {
  return hasCurrencyNames(filter) || thresholds.some(({ currency }) => isCurrencyName(currency, 'currency'));
}
