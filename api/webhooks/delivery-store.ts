/** Deliveries as their owner sees them. */
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { columns, type RowOf, rowReader } from '../../infra/row-reader.ts';
import { DELIVERY_STATES, type DeliveryState } from './states.ts';
import { lockWebhooks, type TurnQueue } from './turn-queue.ts';

const DELIVERY = {
  id: columns.text,
  /** Order of the deliveries of all webhooks together. */
  serial: columns.bigint,
  kind: columns.text,
  chain: columns.nullable(columns.text),
  height: columns.nullable(columns.number),
  state: columns.choice(DELIVERY_STATES),
  reverts: columns.nullable(columns.text),
  reverted: columns.boolean,
  attempts: columns.number,
  attempted_at: columns.nullable(columns.date),
  next_attempt_at: columns.nullable(columns.date),
  status: columns.nullable(columns.number),
  error: columns.nullable(columns.text),
  /** Duration of the last attempt. */
  latency_ms: columns.nullable(columns.number),
  created_at: columns.date,
};
const WHOLE = { ...DELIVERY, body: columns.text, answer: columns.nullable(columns.text), answer_cut: columns.boolean };
const readDelivery = rowReader(DELIVERY);
const readWhole = rowReader(WHOLE);
export type DeliveryRow = RowOf<typeof DELIVERY>;
export type WholeDeliveryRow = RowOf<typeof WHOLE>;

export interface DeliveryQuery {
  readonly state: DeliveryState | undefined;
  /** Only deliveries older than the one with this serial, which may be gone. */
  readonly before: bigint | null;
  readonly limit: number;
}

const COLUMNS = `id, serial, kind, chain, height, state, reverts, reverted, attempts, attempted_at,
  CASE WHEN state = 'pending' THEN next_attempt_at END AS next_attempt_at, status, error, latency_ms, created_at`;
const LIST_SQL = `SELECT ${COLUMNS} FROM webhook_deliveries
  WHERE webhook_id = $1 AND ($2::text IS NULL OR state = $2)
    AND ($3::bigint IS NULL OR serial < $3)
  ORDER BY serial DESC LIMIT $4`;
const REDRIVE = `UPDATE webhook_deliveries SET state = 'pending', attempts = 0, next_attempt_at = now() WHERE webhook_id = $1`;
/** Excludes held deliveries, which wait for their confirmations. */
const REDRIVE_SQL = `${REDRIVE} AND id = $2 AND state <> 'held' RETURNING ${COLUMNS}`;
const REDRIVE_FAILED_SQL = `${REDRIVE} AND state = 'failed' AND id = ANY(SELECT id FROM webhook_deliveries
    WHERE webhook_id = $1 AND state = 'failed' ORDER BY serial LIMIT $2)`;
const MOST_REDRIVEN = 1_000;

/** Newest first. */
export function listDeliveries(
  { pool }: Postgres,
  webhookId: string,
  { state, before, limit }: DeliveryQuery,
): Promise<DeliveryRow[]> {
  return readRows(pool, readDelivery, LIST_SQL, [webhookId, state ?? null, before, limit]);
}

const readSerial = rowReader({ serial: columns.bigint });

/** Returns null for a delivery that is gone or belongs to another webhook. */
export async function serialOf({ pool }: Postgres, webhookId: string, id: string): Promise<bigint | null> {
  const sql = 'SELECT serial FROM webhook_deliveries WHERE webhook_id = $1 AND id = $2';
  return (await readRow(pool, readSerial, sql, [webhookId, id]))?.serial ?? null;
}

export async function findDelivery(
  { pool }: Postgres,
  webhookId: string,
  id: string,
): Promise<WholeDeliveryRow | null> {
  const sql = `SELECT ${COLUMNS}, body, answer, answer_cut FROM webhook_deliveries WHERE webhook_id = $1 AND id = $2`;
  return (await readRow(pool, readWhole, sql, [webhookId, id])) ?? null;
}

/** Starts the whole retry schedule again from now; returns null for a delivery that does not exist or is held. */
export function redrive(
  postgres: Postgres,
  queue: Pick<TurnQueue, 'wake'>,
  webhookId: string,
  id: string,
): Promise<DeliveryRow | null> {
  return postgres.transaction(async (client) => {
    await lockWebhooks(client, [webhookId]);
    const row = await readRow(client, readDelivery, REDRIVE_SQL, [webhookId, id]);
    if (row) await queue.wake(client, [webhookId]);
    return row ?? null;
  });
}

export interface Redriven {
  readonly redriven: number;
  /** Whether there may be further failed deliveries. */
  readonly more: boolean;
}

/** Redrives the oldest failed deliveries, as many as one transaction takes. */
export function redriveFailed(
  postgres: Postgres,
  queue: Pick<TurnQueue, 'wake'>,
  webhookId: string,
): Promise<Redriven> {
  return postgres.transaction(async (client) => {
    await lockWebhooks(client, [webhookId]);
    const { rowCount } = await client.query(REDRIVE_FAILED_SQL, [webhookId, MOST_REDRIVEN]);
    const redriven = rowCount ?? 0;
    if (redriven > 0) await queue.wake(client, [webhookId]);
    return { redriven, more: redriven === MOST_REDRIVEN };
  });
}
