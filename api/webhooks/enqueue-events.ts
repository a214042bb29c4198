/**
 * From the facts of a chain to deliveries. The cursor moves in the transaction that holds what follows from it, and only over what
 * derive has committed: nothing is left out and nothing comes twice, whoever is killed when.
 */
import type { PoolClient } from 'pg';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import type { Logger } from '../../infra/logger.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { VerustreamError } from '../../schemas/errors.ts';
import { decodeFactsRecord } from '../../schemas/log-codec.ts';
import type { FactsRecord } from '../../schemas/log-records.ts';
import { eventsOfRecord } from '../push/events-of-record.ts';
import { headOf } from '../push/feed-topic.ts';
import { type Delivery, insertDeliveries, releaseHeld, takeBack } from './delivery-rows.ts';
import type { LivingWebhook, LivingWebhooks } from './living-webhooks.ts';
import { messageBody, newMessageId } from './message-body.ts';
import type { TurnQueue } from './turn-queue.ts';

export interface EnqueueOptions {
  readonly chain: string;
  readonly postgres: Postgres;
  readonly log: EventLog;
  readonly queue: Pick<TurnQueue, 'wake'>;
  readonly living: LivingWebhooks;
  readonly logger: Logger;
}

export interface Enqueued {
  /** Records that were looked at. */
  readonly records: number;
  /** Receivers that have something due. */
  readonly woken: number;
  /** Next record; null while nobody listens or another process is at work. */
  readonly next: number | null;
  /** Position of the newest block record that derive had committed. */
  readonly derived: number;
}

const READ_LIMITS = { maxRecords: 200, maxBytes: 4 * 1024 * 1024 };
const RESTING: Enqueued = { records: 0, woken: 0, next: null, derived: -1 };

/** One batch. @throws what Postgres and the log throw; then nothing has happened */
export function enqueueEvents(options: EnqueueOptions): Promise<Enqueued> {
  const { chain, postgres, log, queue, living, logger } = options;
  return postgres.transaction(async (client) => {
    if (!(await hasWebhooks(client))) {
      await client.query('DELETE FROM webhook_cursors WHERE chain = $1', [chain]);
      return RESTING;
    }
    const derived = await derivedPosition(client, chain);
    const position = await lockCursor(client, chain, log);
    if (position === null || derived === null) return RESTING;
    const records = await readRecords(log, chain, position).catch((error: unknown) => {
      if (error instanceof VerustreamError && error.code === 'log_gap') return null;
      throw error;
    });
    const webhooks = await living(client, chain);
    const woken = new Set<string>();
    if (records === null) {
      const next = await headOf(log, chain, derived);
      logger.error({ chain, position, next }, 'events for webhooks are no longer in the log; their owners are told');
      await tellGap(client, chain, webhooks, woken);
      await finish(client, options, next, woken);
      return { records: 1, woken: woken.size, next, derived };
    }
    const committed = records.filter(({ source }) => source <= derived);
    await tell(client, chain, committed, webhooks, woken);
    const next = position + committed.length;
    if (committed.length > 0) await finish(client, options, next, woken);
    return { records: committed.length, woken: woken.size, next, derived };
  });

  async function finish(client: PoolClient, { chain: name }: EnqueueOptions, next: number, woken: ReadonlySet<string>) {
    await client.query('UPDATE webhook_cursors SET position = $2 WHERE chain = $1', [name, next]);
    await queue.wake(client, [...woken]);
  }
}

async function hasWebhooks(client: PoolClient): Promise<boolean> {
  return ((await client.query('SELECT FROM webhooks LIMIT 1')).rowCount ?? 0) > 0;
}

async function derivedPosition(client: PoolClient, chain: string): Promise<number | null> {
  const sql = `SELECT position FROM stage_positions WHERE stage = 'derive' AND chain = $1`;
  const { rows } = await client.query<{ position: bigint }>(sql, [chain]);
  return rows[0] ? Number(rows[0].position) : null;
}

/** Null while another process has it. */
async function lockCursor(client: PoolClient, chain: string, log: EventLog): Promise<number | null> {
  const held = await client.query<{ position: bigint }>(
    'SELECT position FROM webhook_cursors WHERE chain = $1 FOR UPDATE SKIP LOCKED',
    [chain],
  );
  if (held.rows[0]) return Number(held.rows[0].position);
  if ((await client.query('SELECT FROM webhook_cursors WHERE chain = $1', [chain])).rowCount !== 0) return null;
  const { rows } = await client.query<{ since: bigint }>(
    'SELECT coalesce(min(coalesce((since ->> $1)::bigint, -1)), -1) AS since FROM webhooks',
    [chain],
  );
  const first = await headOf(log, chain, Number(rows[0]?.since ?? -1n));
  const made = await client.query('INSERT INTO webhook_cursors VALUES ($1, $2) ON CONFLICT DO NOTHING', [chain, first]);
  return made.rowCount === 1 ? first : null;
}

async function readRecords(log: EventLog, chain: string, position: number): Promise<FactsRecord[]> {
  return (await log.read('facts', chain, position, READ_LIMITS)).map(({ payload }) => decodeFactsRecord(payload));
}

/** Record by record, so that a rewind takes back exactly what stood before it. */
async function tell(
  client: PoolClient,
  chain: string,
  records: readonly FactsRecord[],
  webhooks: readonly LivingWebhook[],
  woken: Set<string>,
): Promise<void> {
  let made: Delivery[] = [];
  let tip: number | null = null;
  const settle = async () => {
    await insertDeliveries(client, made);
    for (const { webhookId, releaseHeight } of made) if (releaseHeight === null) woken.add(webhookId);
    if (tip !== null) for (const id of await releaseHeld(client, chain, tip)) woken.add(id);
    made = [];
    tip = null;
  };
  for (const record of records) {
    if (record.kind === 'rewind') {
      await settle();
      for (const id of await takeBack(client, chain, record.height)) woken.add(id);
    } else {
      tip = record.height;
    }
    made.push(...deliveriesOf(chain, record, webhooks));
  }
  await settle();
}

function deliveriesOf(chain: string, record: FactsRecord, webhooks: readonly LivingWebhook[]): Delivery[] {
  const listening = webhooks.filter(({ since }) => record.source > since);
  if (listening.length === 0) return [];
  const rewind = record.kind === 'rewind';
  const block = rewind ? undefined : record.facts.find((fact) => fact.type === 'block');
  const at = block ? new Date(block.time * 1000) : new Date();
  return eventsOfRecord(chain, record).flatMap((event) => {
    let body: string | null = null; // the same for all
    return listening.flatMap(({ id: webhookId, confirmations, kindOf }): Delivery[] => {
      const kind = kindOf(event);
      if (kind === null) return [];
      body ??= messageBody({ type: kind, at, chain, data: event.data() });
      const height = rewind ? null : record.height;
      const releaseHeight = height === null || confirmations === 0 ? null : height + confirmations;
      return [{ id: newMessageId(), webhookId, kind, chain, height, releaseHeight, body, reverts: null }];
    });
  });
}

/** What was not read can never be told: each receiver learns that it must ask. */
async function tellGap(client: PoolClient, chain: string, webhooks: readonly LivingWebhook[], woken: Set<string>) {
  const body = messageBody({ type: 'resync', at: new Date(), chain, data: JSON.stringify({ reason: 'log_gap' }) });
  const made = webhooks.map(({ id }) => ({
    id: newMessageId(),
    webhookId: id,
    kind: 'resync',
    chain,
    height: null,
    releaseHeight: null,
    body,
    reverts: null,
  }));
  await insertDeliveries(client, made);
  for (const { webhookId } of made) woken.add(webhookId);
}
