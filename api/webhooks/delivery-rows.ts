/** Deliveries in Postgres: creates them, holds them until they are confirmed, and reverts them. */
import type { PoolClient } from 'pg';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import type { FeedTopicName } from '../push/cursor.ts';
import { messageBody, newMessageId, revertedBody, revertedKind } from './message-body.ts';

export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  readonly kind: string;
  /** Topic that it comes from; by default facts. */
  readonly topic?: FeedTopicName;
  readonly chain: string | null;
  /** Block of the event; null for an event that no rewind retracts. */
  readonly height: number | null;
  /** The chain's height at which it is sent; null to send it at once. */
  readonly releaseHeight: number | null;
  readonly body: string;
  readonly reverts: string | null;
}

/** Why a `resync` is sent: events of the log are gone, or too many messages waited. */
export const RESYNC_REASONS = ['log_gap', 'backlog'] as const;

/** Creates the delivery which reports that a receiver's data of a chain may be incomplete. */
export function resyncOf(webhookId: string, chain: string, reason: (typeof RESYNC_REASONS)[number]): Delivery {
  const body = messageBody({ type: 'resync', at: new Date(), chain, data: JSON.stringify({ reason }) });
  const place = { chain, height: null, releaseHeight: null };
  return { id: newMessageId(), webhookId, kind: 'resync', ...place, body, reverts: null };
}

const INSERT_SQL = `INSERT INTO webhook_deliveries
    (id, webhook_id, kind, topic, chain, height, release_height, body, reverts, state, next_attempt_at)
  SELECT id, webhook_id, kind, topic, chain, height, release_height, body, reverts,
    CASE WHEN release_height IS NULL THEN 'pending' ELSE 'held' END, CASE WHEN release_height IS NULL THEN now() END
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::int[], $7::text[], $8::text[], $9::text[])
    WITH ORDINALITY AS made(id, webhook_id, kind, chain, height, release_height, body, reverts, topic, place)
  ORDER BY place`;

/** Bounds of one statement, which pg sends as one text: rows, and characters of all bodies. */
const MOST_TOGETHER = { rows: 1_000, characters: 8 * 1024 * 1024 };

/** Inserts any number of deliveries in their order, in parts as they are made. */
export async function insertDeliveries(
  client: PoolClient,
  made: Iterable<Delivery> | AsyncIterable<Delivery>,
): Promise<void> {
  let part: Delivery[] = [];
  let characters = 0;
  for await (const delivery of made) {
    part.push(delivery);
    characters += delivery.body.length;
    if (part.length < MOST_TOGETHER.rows && characters < MOST_TOGETHER.characters) continue;
    await insertPart(client, part);
    part = [];
    characters = 0;
  }
  if (part.length > 0) await insertPart(client, part);
}

async function insertPart(client: PoolClient, made: readonly Delivery[]): Promise<void> {
  await client.query(INSERT_SQL, [
    made.map(({ id }) => id),
    made.map(({ webhookId }) => webhookId),
    made.map(({ kind }) => kind),
    made.map(({ chain }) => chain),
    made.map(({ height }) => height),
    made.map(({ releaseHeight }) => releaseHeight),
    made.map(({ body }) => body),
    made.map(({ reverts }) => reverts),
    made.map(({ topic }) => topic ?? 'facts'),
  ]);
}

const readReleased = rowReader({ webhook_id: columns.text });

/**
 * Releases the deliveries that have their confirmations at `tip` of the topic, and returns their webhooks. Deliveries without a height
 * come from no record of the topic, so `tip` may belong to a branch that was removed before them: they wait until `reached`, too.
 */
export async function releaseHeld(
  client: PoolClient,
  topic: FeedTopicName,
  chain: string,
  { tip, reached }: { readonly tip: number; readonly reached: number },
): Promise<string[]> {
  const rows = await readRows(
    client,
    readReleased,
    `UPDATE webhook_deliveries SET state = 'pending', next_attempt_at = now()
     WHERE chain = $1 AND state = 'held' AND release_height <= $2 AND topic = $3
       AND (height IS NOT NULL OR release_height <= $4) RETURNING webhook_id`,
    [chain, tip, topic, reached],
  );
  return rows.map((row) => row.webhook_id);
}

const readReverted = rowReader({
  id: columns.text,
  webhook_id: columns.text,
  kind: columns.text,
  chain: columns.text,
  body: columns.text,
});
const readRevertedId = rowReader({ id: columns.text, serial: columns.bigint });

/**
 * Reverts deliveries after a rewind of a topic to `height`: held deliveries are deleted; every other delivery about a removed block is
 * followed by one that reverts it, newest first. Returns their webhooks.
 */
export async function revertRewound(
  client: PoolClient,
  topic: FeedTopicName,
  chain: string,
  height: number,
): Promise<string[]> {
  const removed = 'chain = $1 AND height > $2 AND topic = $3';
  const values = [chain, height, topic];
  await client.query(`DELETE FROM webhook_deliveries WHERE ${removed} AND state = 'held'`, values);
  const rows = await readRows(
    client,
    readRevertedId,
    `UPDATE webhook_deliveries SET reverted = true WHERE ${removed} AND NOT reverted RETURNING id, serial`,
    values,
  );
  return enqueueReversals(client, rows);
}

/** Like revertRewound(), for deliveries by their ids. */
export async function revertDeliveries(client: PoolClient, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  await client.query(`DELETE FROM webhook_deliveries WHERE id = ANY($1) AND state = 'held'`, [ids]);
  const rows = await readRows(
    client,
    readRevertedId,
    `UPDATE webhook_deliveries SET reverted = true WHERE id = ANY($1) AND NOT reverted RETURNING id, serial`,
    [ids],
  );
  return enqueueReversals(client, rows);
}

const readSent = rowReader({ id: columns.text, held: columns.boolean, key: columns.text });

/**
 * Like revertRewound(), for deliveries with the value of these conversions of a block.
 * @returns the webhooks to wake, and which webhooks already had a conversion's value released: `<webhook> <txid>:<vout>`
 */
export async function revertConversions(
  client: PoolClient,
  chain: string,
  height: number,
  conversions: readonly { readonly txid: string; readonly vout: number }[],
): Promise<{ readonly woken: readonly string[]; readonly sent: ReadonlySet<string> }> {
  if (conversions.length === 0) return { woken: [], sent: new Set() };
  const rows = await readRows(
    client,
    readSent,
    `SELECT id, state = 'held' AS held, concat(webhook_id, ' ', body::jsonb #>> '{data,txid}', ':', body::jsonb #>> '{data,vout}') AS key
     FROM webhook_deliveries
     WHERE chain = $1 AND topic = 'stamps' AND height = $2 AND NOT reverted AND reverts IS NULL
       AND (body::jsonb #>> '{data,txid}', (body::jsonb #>> '{data,vout}')::int)
         IN (SELECT * FROM unnest($3::text[], $4::int[]))`,
    [chain, height, conversions.map(({ txid }) => txid), conversions.map(({ vout }) => vout)],
  );
  const woken = await revertDeliveries(
    client,
    rows.map(({ id }) => id),
  );
  return { woken, sent: new Set(rows.filter(({ held }) => !held).map(({ key }) => key)) };
}

/** Bodies that are read at a time. */
const REVERTED_AT_ONCE = 100;

/** Enqueues the reversals, newest first. Returns their webhooks. */
async function enqueueReversals(
  client: PoolClient,
  reverted: readonly RowRead<typeof readRevertedId>[],
): Promise<string[]> {
  const now = new Date();
  const ids = reverted.toSorted((a, b) => (a.serial < b.serial ? 1 : -1)).map(({ id }) => id);
  const webhookIds = new Set<string>();
  for (let first = 0; first < ids.length; first += REVERTED_AT_ONCE) {
    const rows = await readRows(
      client,
      readReverted,
      `SELECT id, webhook_id, kind, chain, body FROM webhook_deliveries WHERE id = ANY($1) ORDER BY serial DESC`,
      [ids.slice(first, first + REVERTED_AT_ONCE)],
    );
    await insertDeliveries(
      client,
      rows.map((row) => ({
        id: newMessageId(),
        webhookId: row.webhook_id,
        kind: revertedKind(row.kind),
        chain: row.chain,
        height: null,
        releaseHeight: null,
        body: revertedBody(row, now),
        reverts: row.id,
      })),
    );
    for (const row of rows) webhookIds.add(row.webhook_id);
  }
  return [...webhookIds];
}
