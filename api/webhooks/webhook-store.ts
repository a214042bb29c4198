/** Webhooks of an identity in Postgres. */
import { isDeepStrictEqual } from 'node:util';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import type { KeyOwner } from '../access/key-store.ts';
import { newId } from '../access/tokens.ts';
import { insertDeliveries } from './delivery-rows.ts';
import { messageBody, newMessageId } from './message-body.ts';
import { newSecret } from './secrets.ts';
import { DISABLED_REASONS } from './states.ts';
import { lockWebhooks, type TurnQueue } from './turn-queue.ts';
import { parseWebhookSubscription, type WebhookSubscription } from './webhook.ts';

const readWebhook = rowReader({
  id: columns.text,
  url: columns.text,
  description: columns.text,
  /** JSON text of a `WebhookSubscription`. */
  asked: columns.text,
  confirmations: columns.number,
  enabled: columns.boolean,
  disabled_reason: columns.nullable(columns.choice(DISABLED_REASONS)),
  failing_since: columns.nullable(columns.date),
  old_secret_ends_at: columns.nullable(columns.date),
  created_at: columns.date,
});
export type WebhookRow = RowRead<typeof readWebhook>;

export interface WebhookRegistration {
  readonly url: string;
  readonly description: string;
  readonly asked: WebhookSubscription;
  readonly confirmations: number;
}

export interface Change extends WebhookRegistration {
  /** Unchanged if undefined. */
  readonly enabled: boolean | undefined;
  readonly rotateSecret: boolean;
}

export interface WithSecret {
  readonly row: WebhookRow;
  /** Shown only once; null if no new one was made. */
  readonly secret: string | null;
}

type Queue = Pick<TurnQueue, 'wake'>;

export const MAX_WEBHOOKS = 20;
const OLD_SECRET_LIVES = '24 hours';

const COLUMNS = `id, url, description, asked, confirmations, enabled, disabled_reason, failing_since,
  CASE WHEN old_secret_ends_at > now() THEN old_secret_ends_at END AS old_secret_ends_at, created_at`;
const OWN = 'chain = $1 AND identity_address = $2';
const LIST_SQL = `SELECT ${COLUMNS} FROM webhooks WHERE ${OWN} ORDER BY created_at, id`;
const FIND_SQL = `SELECT ${COLUMNS} FROM webhooks WHERE ${OWN} AND id = $3`;
const CREATE_SQL = `INSERT INTO webhooks (chain, identity_address, id, url, description, asked, confirmations, secret, since)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, 
    coalesce(jsonb_object_agg(CASE stage WHEN 'told' THEN chain || '/stamps' ELSE chain END, position), '{}')
  FROM ${positionsOf('derive', 'told')} AS at RETURNING ${COLUMNS}`;
/** Enabling again resets the failures and resumes the waiting deliveries. A new URL has not failed yet, nor asked for a pause. */
const UPDATE_SQL = `UPDATE webhooks SET url = $4, description = $5, asked = $6, confirmations = $7,
    enabled = coalesce($8, enabled),
    disabled_reason = CASE WHEN coalesce($8, enabled) THEN NULL ELSE coalesce(disabled_reason, 'owner') END,
    failing_since = CASE WHEN $8 OR url <> $4 THEN NULL ELSE failing_since END,
    held_until = CASE WHEN $8 OR url <> $4 THEN NULL ELSE held_until END,
    secret = coalesce($9, secret), old_secret = CASE WHEN $9::text IS NULL THEN old_secret ELSE secret END,
    old_secret_ends_at = CASE WHEN $9::text IS NULL THEN old_secret_ends_at ELSE now() + interval '${OLD_SECRET_LIVES}' END
  WHERE ${OWN} AND id = $3 RETURNING ${COLUMNS}`;
/** Deliveries that wait for a retry at the old URL are due at the new one. */
const RETRY_NOW_SQL = `UPDATE webhook_deliveries SET next_attempt_at = now()
  WHERE webhook_id = $1 AND state = 'pending' AND next_attempt_at > now()`;
/** After new thresholds or a pause, earlier sides no longer count; those with a message stay, so that it can be reverted. */
const FORGET_SIDES_SQL = `DELETE FROM webhook_price_sides WHERE webhook_id = $1 AND delivery_id IS NULL`;
/** Each retired side gets a negative `watch` number of its own. */
const RETIRE_SIDES_SQL = `WITH own AS (SELECT * FROM webhook_price_sides WHERE webhook_id = $1), retired AS (
    SELECT watch, tick, hash, (SELECT least(0, min(watch)) FROM own) - row_number() OVER () AS new_watch FROM own WHERE watch >= 0
  )
  UPDATE webhook_price_sides s SET watch = new_watch FROM retired r
  WHERE s.webhook_id = $1 AND (s.watch, s.tick, s.hash) = (r.watch, r.tick, r.hash)`;

const own = ({ chain, identityAddress }: KeyOwner) => [chain, identityAddress];

export function listWebhooks({ pool }: Postgres, holder: KeyOwner): Promise<WebhookRow[]> {
  return readRows(pool, readWebhook, LIST_SQL, own(holder));
}

export async function findWebhook(
  { pool }: Pick<Postgres, 'pool'>,
  holder: KeyOwner,
  id: string,
): Promise<WebhookRow | null> {
  return (await readRow(pool, readWebhook, FIND_SQL, [...own(holder), id])) ?? null;
}

/** Returns null if the identity already has the maximum number of webhooks. The webhook receives everything indexed from now on. */
export function createWebhook(
  postgres: Postgres,
  holder: KeyOwner,
  made: WebhookRegistration,
): Promise<WithSecret | null> {
  return postgres.transaction(async (client) => {
    // Two webhooks that are created at once must count each other.
    await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`webhooks ${own(holder).join(' ')}`]);
    const had = await client.query(`SELECT FROM webhooks WHERE ${OWN}`, own(holder));
    if ((had.rowCount ?? 0) >= MAX_WEBHOOKS) return null;
    const secret = newSecret();
    const { url, description, asked, confirmations } = made;
    const values = [...own(holder), newId(), url, description, JSON.stringify(asked), confirmations, secret];
    const row = await readRow(client, readWebhook, CREATE_SQL, values);
    return row ? { row, secret } : null;
  });
}

/** Returns null if the identity's webhook is no longer as it was `before`. */
export function changeWebhook(
  postgres: Postgres,
  queue: Queue,
  holder: KeyOwner,
  before: WebhookRow,
  change: Change,
): Promise<WithSecret | null> {
  return postgres.transaction(async (client) => {
    const { id } = before;
    await lockWebhooks(client, [id]);
    const now = await readRow(client, readWebhook, FIND_SQL, [...own(holder), id]);
    if (!now || !isDeepStrictEqual(registered(now), registered(before))) return null;
    const secret = change.rotateSecret ? newSecret() : null;
    const { url, description, asked, confirmations, enabled } = change;
    const hasNewThresholds = !isDeepStrictEqual(parseWebhookSubscription(now.asked).thresholds, asked.thresholds);
    if (hasNewThresholds || (enabled === true && !now.enabled)) {
      await client.query(FORGET_SIDES_SQL, [id]);
      await client.query(RETIRE_SIDES_SQL, [id]);
    }
    const values = [url, description, JSON.stringify(asked), confirmations, enabled ?? null, secret];
    const row = await readRow(client, readWebhook, UPDATE_SQL, [...own(holder), id, ...values]);
    const isElsewhere = url !== now.url;
    if (isElsewhere) await client.query(RETRY_NOW_SQL, [id]);
    if (row && (isElsewhere || enabled === true)) await queue.wake(client, [id]);
    return row ? { row, secret } : null;
  });
}

const registered = ({ url, description, asked, confirmations }: WebhookRow) => [url, description, asked, confirmations];

/** Deletes a webhook and its deliveries. Returns false if the identity has no such webhook. */
export async function deleteWebhook({ pool }: Postgres, holder: KeyOwner, id: string): Promise<boolean> {
  return (await pool.query(`DELETE FROM webhooks WHERE ${OWN} AND id = $3`, [...own(holder), id])).rowCount === 1;
}

/** Enqueues a test delivery. Returns its id. */
export function sendTest(postgres: Postgres, queue: Queue, webhookId: string): Promise<string> {
  return postgres.transaction(async (client) => {
    const id = newMessageId();
    const body = messageBody({ type: 'test', at: new Date(), chain: null, data: JSON.stringify({ webhookId }) });
    const rest = { kind: 'test', chain: null, height: null, releaseHeight: null, reverts: null };
    await insertDeliveries(client, [{ ...rest, id, webhookId, body }]);
    await queue.wake(client, [webhookId]);
    return id;
  });
}
