/** The webhooks that receive events now, compiled. */

import type { PoolClient } from 'pg';
import { IS_NOT_REVOKED_SQL, IS_REVOKED_SQL } from '../../domain/identity-status.ts';
import type { Logger } from '../../infra/logger.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { TIERS } from '../../schemas/config.ts';
import type { FeedKey } from '../push/cursor.ts';
import type { Names } from '../push/names.ts';
import { createInterest, type Interest, parseWebhookSubscription, type WebhookSubscription } from './webhook.ts';

export interface ActiveWebhook extends Interest {
  readonly id: string;
  /** Further blocks of the chain on top of an event's before it is sent. */
  readonly confirmations: number;
  /** It receives events after this mark of a topic; −1 if the topic was empty. */
  readonly since: number;
}

/** `since` is of the feed. */
export type ActiveWebhooks = (client: PoolClient, feed: FeedKey | null) => Promise<readonly ActiveWebhook[]>;

const OF_OWNER = 'chain = w.chain AND identity_address = w.identity_address';
const HAS_TIER_SQL = `w.enabled AND EXISTS (SELECT FROM identity_tiers WHERE ${OF_OWNER} AND tier = '${TIERS.at(-1)}')`;
const STANDING = `${OF_OWNER} AND to_height IS NULL`;
/**
 * Condition on a webhook `w`: an owner who is revoked, has lost the tier, or is of none of these chains (SQL), where a revocation would
 * not be seen, receives nothing, neither what is new nor what waits.
 */
export const mayReceiveSql = (chains: string): string => `${HAS_TIER_SQL} AND w.chain = ANY(${chains})
    AND EXISTS (SELECT FROM identities WHERE ${STANDING} AND ${IS_NOT_REVOKED_SQL})`;
/** While the owner's chain is derived again, the identity is not there yet: what happens meanwhile waits for it. */
const ACTIVE_SQL = `SELECT w.id, w.asked, w.confirmations, coalesce((w.since ->> $1)::bigint, -1) AS since
  FROM webhooks w WHERE ${HAS_TIER_SQL} AND w.chain = ANY($2)
    AND NOT EXISTS (SELECT FROM identities WHERE ${STANDING} AND ${IS_REVOKED_SQL}) ORDER BY w.id`;

const NOTHING: Interest = { kindOf: () => null, hears: () => false, thresholds: [] };

const readActive = rowReader({
  id: columns.text,
  asked: columns.text,
  confirmations: columns.number,
  since: columns.bigint,
});

/** Each text of a registration is compiled once, and again when names may mean other currencies. */
export function createActiveWebhooks(
  chains: readonly string[],
  names: Pick<Names, 'idsOf' | 'version'>,
  logger: Logger,
): ActiveWebhooks {
  let interests = new Map<string, Interest>();
  let compiledAt = names.version();

  /** A webhook registered under older rules may fail today's; it must not hold up the others. */
  function compile(id: string, asked: string): Interest {
    try {
      return createInterest(known(parseWebhookSubscription(asked), chains), chains, names.idsOf);
    } catch (err) {
      logger.error({ err, webhook: id }, 'the subscription of this webhook can no longer be served');
      return NOTHING;
    }
  }
  return async (client, feed) => {
    const rows = await readRows(client, readActive, ACTIVE_SQL, [feed, chains]);
    if (compiledAt !== names.version()) interests = new Map();
    compiledAt = names.version();
    const used = new Map<string, Interest>();
    const active = rows.map(({ id, asked, confirmations, since }) => {
      const interest = interests.get(asked) ?? compile(id, asked);
      used.set(asked, interest);
      return { id, confirmations, since: Number(since), ...interest };
    });
    interests = used;
    return active;
  };
}

/** A chain that is not configured any more has no events. */
function known(asked: WebhookSubscription, chains: readonly string[]): WebhookSubscription {
  return { ...asked, chains: asked.chains?.filter((chain) => chains.includes(chain)) ?? null };
}
