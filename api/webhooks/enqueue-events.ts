/**
 * Turns the records of a chain's topic into deliveries. The cursor advances in the transaction that inserts the deliveries, and only
 * over committed records: no event is lost or duplicated, whichever process crashes.
 */
import type { PoolClient } from 'pg';
import { LogGap } from '../../infra/event-log/log-errors.ts';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Logger } from '../../infra/logger.ts';
import type { Pace } from '../../infra/pace.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { readStagePosition } from '../../infra/postgres/stage-positions.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { PushEvent } from '../push/push-event.ts';
import type { ActiveWebhook, ActiveWebhooks } from './active-webhooks.ts';
import {
  type Delivery,
  insertDeliveries,
  releaseHeld,
  resyncOf,
  revertConversions,
  revertRewound,
} from './delivery-rows.ts';
import type { SourceRecord, WebhookEventSource } from './event-source.ts';
import { messageBody, newMessageId } from './message-body.ts';
import { lockWebhooks, type TurnQueue } from './turn-queue.ts';

export interface EnqueueOptions {
  readonly source: WebhookEventSource;
  readonly postgres: Postgres;
  readonly topics: TopicReader;
  readonly queue: Pick<TurnQueue, 'wake'>;
  readonly activeWebhooks: ActiveWebhooks;
  /** For decoding records and matching their events. */
  readonly pace: Pace;
  readonly logger: Logger;
}

export interface Enqueued {
  /** Number of records processed. */
  readonly records: number;
  /** Number of webhooks with due deliveries. */
  readonly woken: number;
  /** Position of the next record; null while there are no webhooks or another process does the work. */
  readonly next: number | null;
}

const readPosition = rowReader({ position: columns.bigint });
const readSince = rowReader({ since: columns.bigint });

/** Whether there are webhooks; without any, deletes the cursor, so that the first webhook starts at its own mark. */
const ANY_SQL = `WITH gone AS (
    DELETE FROM webhook_cursors WHERE topic = $1 AND chain = $2 AND NOT EXISTS (SELECT FROM webhooks)
  ) SELECT EXISTS (SELECT FROM webhooks) AS any`;
const readAny = rowReader({ any: columns.boolean });

const RESTING: Enqueued = { records: 0, woken: 0, next: null };

/** Processes one batch. @throws errors of Postgres and the log; then nothing has changed */
export async function enqueueEvents(options: EnqueueOptions): Promise<Enqueued> {
  const { source, postgres, topics, queue, activeWebhooks, pace, logger } = options;
  const { topic, chain, key, stage } = source;
  if (!(await readRow(postgres.pool, readAny, ANY_SQL, [topic, chain]))?.any) return RESTING;
  await activeWebhooks.prepare();
  return postgres.transaction(async (client) => {
    const reached = await readStagePosition(client, stage, chain);
    const committed = reached?.position ?? null;
    const position = await lockCursor(client, source, topics);
    if (position === null || reached === null || committed === null) return RESTING;
    const records = await source.read(topics, position, pace).catch((error: unknown) => {
      if (error instanceof LogGap) return null;
      throw error;
    });
    const webhooks = await activeWebhooks.read(client, key);
    const woken = new Set<string>();
    if (records === null) {
      const next = await source.head(topics, committed);
      logger.error(
        { topic, chain, position, next },
        'events for webhooks are no longer in the log; their owners are notified',
      );
      await enqueueGap(client, chain, webhooks, woken);
      await finish(client, options, next, woken);
      return { records: 1, woken: woken.size, next };
    }
    // Stop at the first uncommitted record: marks step back where a stage starts again after a crash, and skipped ones would be read again.
    const beyond = records.findIndex(({ mark }) => mark > committed);
    const counting = beyond < 0 ? records : records.slice(0, beyond);
    const isLast = (counting.at(-1)?.mark ?? committed) >= committed;
    await enqueue(client, options, { ...reached, isLast }, counting, webhooks, woken);
    const next = position + counting.length;
    // Without a new record, too, a message may have its confirmations: that of a price which became known after the last block.
    if (counting.length > 0 || woken.size > 0) await finish(client, options, next, woken);
    return { records: counting.length, woken: woken.size, next };
  });

  async function finish(client: PoolClient, { source }: EnqueueOptions, next: number, woken: ReadonlySet<string>) {
    const sql = 'UPDATE webhook_cursors SET position = $3 WHERE topic = $1 AND chain = $2';
    await client.query(sql, [source.topic, source.chain, next]);
    await queue.wake(client, [...woken]);
  }
}

/** Locks the cursor and returns its position; null while another process has it. */
async function lockCursor(client: PoolClient, source: WebhookEventSource, topics: TopicReader): Promise<number | null> {
  const cursor = [source.topic, source.chain];
  const where = 'webhook_cursors WHERE topic = $1 AND chain = $2';
  const held = await readRow(client, readPosition, `SELECT position FROM ${where} FOR UPDATE SKIP LOCKED`, cursor);
  if (held) return Number(held.position);
  if ((await client.query(`SELECT FROM ${where}`, cursor)).rowCount !== 0) return null;
  const sinceSql = 'SELECT coalesce(min(coalesce((since ->> $1)::bigint, -1)), -1) AS since FROM webhooks';
  const oldest = await readRow(client, readSince, sinceSql, [source.key]);
  const first = await source.head(topics, Number(oldest?.since ?? -1n));
  const made = await client.query(
    'INSERT INTO webhook_cursors (topic, chain, position) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [...cursor, first],
  );
  return made.rowCount === 1 ? first : null;
}

interface Reached {
  /** Height of the newest complete block. */
  readonly height: number;
  /** Whether the records reach that block. */
  readonly isLast: boolean;
}

/** Record by record, so that a rewind retracts exactly the deliveries before it. */
async function enqueue(
  client: PoolClient,
  { source, pace }: Pick<EnqueueOptions, 'source' | 'pace'>,
  reached: Reached,
  records: readonly SourceRecord[],
  webhooks: readonly ActiveWebhook[],
  woken: Set<string>,
): Promise<void> {
  const { topic, chain } = source;
  /** The chain's height at the record; null as long as only corrections were read, which do not change it. */
  let tip: number | null = null;
  const releaseUpTo = async (height: number | null) => {
    if (height === null) return;
    const heights = { tip: height, reached: reached.height };
    for (const id of await releaseHeld(client, topic, chain, heights)) woken.add(id);
  };
  // Rewinds and corrections change deliveries that turns may change at the same time.
  if (records.some(({ kind }) => kind === 'rewind' || kind === 'correction')) await lockWebhooks(client, null);
  for (const record of records) {
    let isConfirmed: IsConfirmed = () => false;
    if (record.kind === 'rewind') {
      await releaseUpTo(tip);
      for (const id of await revertRewound(client, topic, chain, record.height)) woken.add(id);
      tip = record.height;
    } else if (record.kind === 'correction') {
      if (record.corrected.length === 0) continue;
      await releaseUpTo(tip);
      const { woken: receivers, sent } = await revertConversions(client, chain, record.height, record.corrected);
      for (const id of receivers) woken.add(id);
      const keys = new Map(record.corrected.map(({ now, txid, vout }) => [now, `${txid}:${vout}`]));
      isConfirmed = (id, event) => sent.has(`${id} ${keys.get(event)}`);
    } else {
      tip = record.height;
    }
    await insertDeliveries(client, noting(deliveriesOf(source, record, webhooks, isConfirmed, pace), woken));
  }
  await releaseUpTo(tip ?? (reached.isLast ? reached.height : null));
}

/** Whether an earlier version of the event was already released to a webhook, so that this one does not wait for confirmations. */
type IsConfirmed = (webhookId: string, event: PushEvent) => boolean;

/** Webhooks that events are matched with between two checks of the time. */
const MATCHED_AT_ONCE = 250;

async function* deliveriesOf(
  { topic, chain }: WebhookEventSource,
  { mark, kind: recordKind, time, events, ...record }: SourceRecord,
  webhooks: readonly ActiveWebhook[],
  isConfirmed: IsConfirmed,
  pace: Pace,
): AsyncGenerator<Delivery> {
  // The mark of a redrive's rewind is the place to which the redrive goes back.
  const listening = webhooks.filter(({ since }) => mark > since || (topic === 'facts' && recordKind === 'rewind'));
  if (listening.length === 0) return;
  const at = time === null ? new Date() : new Date(time * 1000);
  const height = recordKind === 'rewind' ? null : record.height;
  let matched = 0;
  for (const event of events) {
    let body: string | null = null; // the same for all webhooks
    for (const { id: webhookId, confirmations, kindOf } of listening) {
      if (matched % MATCHED_AT_ONCE === 0 && pace.isSpent()) await pace.rest();
      matched += 1;
      const kind = kindOf(event);
      if (kind === null) continue;
      body ??= messageBody({ type: kind, at, chain, data: event.data() });
      const isDue = height === null || confirmations === 0 || isConfirmed(webhookId, event);
      const releaseHeight = isDue ? null : height + confirmations;
      yield { id: newMessageId(), webhookId, kind, topic, chain, height, releaseHeight, body, reverts: null };
    }
  }
}

/** Notes the webhooks whose deliveries are due at once. */
async function* noting(made: AsyncIterable<Delivery>, woken: Set<string>): AsyncGenerator<Delivery> {
  for await (const delivery of made) {
    if (delivery.releaseHeight === null) woken.add(delivery.webhookId);
    yield delivery;
  }
}

/** Records that the log no longer has can never be delivered: sends each webhook of the chain a `resync`, so that it reads the state. */
async function enqueueGap(client: PoolClient, chain: string, webhooks: readonly ActiveWebhook[], woken: Set<string>) {
  const made = webhooks.filter(({ hears }) => hears(chain)).map(({ id }) => resyncOf(id, chain, 'log_gap'));
  await insertDeliveries(client, made);
  for (const { webhookId } of made) woken.add(webhookId);
}
