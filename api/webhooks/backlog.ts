/**
 * Bounds the deliveries that wait for one webhook, since its receiver may always be slower than its events. Above the bound they are
 * dropped, and a `resync` notifies the receiver.
 */
import type { PoolClient } from 'pg';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { insertDeliveries, resyncOf } from './delivery-rows.ts';
import type { TurnQueue } from './turn-queue.ts';

/** Bounds of one webhook. A receiver of every block of four chains that is away for a month stays below. */
export interface BacklogBounds {
  readonly deliveries: number;
  /** All bodies together. */
  readonly bytes: number;
}

const BOUNDS: BacklogBounds = { deliveries: 200_000, bytes: 256 * 1024 * 1024 };

const WAITS = `state IN ('pending', 'held')`;
const FULL_SQL = `SELECT webhook_id FROM webhook_deliveries WHERE ${WAITS}
  GROUP BY webhook_id HAVING count(*) > $1 OR sum(octet_length(body)) > $2`;
const readFull = rowReader({ webhook_id: columns.text });
const DROP_SQL = `WITH dropped AS (DELETE FROM webhook_deliveries WHERE webhook_id = $1 AND ${WAITS} RETURNING chain)
  SELECT DISTINCT chain FROM dropped WHERE chain IS NOT NULL ORDER BY chain`;
const readChain = rowReader({ chain: columns.text });

/** Returns the webhooks whose deliveries were dropped. */
export async function dropBacklogs(
  postgres: Postgres,
  queue: Pick<TurnQueue, 'wake'>,
  { deliveries, bytes }: BacklogBounds = BOUNDS,
): Promise<string[]> {
  const full = await readRows(postgres.pool, readFull, FULL_SQL, [deliveries, bytes]);
  const ids = full.map((row) => row.webhook_id);
  for (const id of ids) await postgres.transaction((client) => drop(client, queue, id));
  return ids;
}

async function drop(client: PoolClient, queue: Pick<TurnQueue, 'wake'>, webhookId: string): Promise<void> {
  await queue.wake(client, [webhookId]); // locks the webhook from here on
  const chains = await readRows(client, readChain, DROP_SQL, [webhookId]);
  await insertDeliveries(
    client,
    chains.map(({ chain }) => resyncOf(webhookId, chain, 'backlog')),
  );
}
