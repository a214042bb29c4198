/**
 * The durable queue of receivers, kept in Postgres by pg-boss. A job is a turn at one receiver: the queue's policy lets a receiver have
 * one open turn at a time over all processes, so a slow receiver delays no other and no message is sent by two workers at once. The due
 * messages are in webhook_deliveries. See docs/decisions/0019-webhooks.md.
 */
import type { PoolClient } from 'pg';
import { PgBoss } from 'pg-boss';
import type { Logger } from '../../infra/logger.ts';
import { KEEP_ALIVE } from '../../infra/postgres/pool.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { pause, repeatUntil } from '../../infra/repeat-until.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';

export interface Turn {
  readonly webhookId: string;
  /** The job as this worker took it; a later worker's job is not affected. */
  readonly job: { readonly id: string; readonly retryCount: number };
}

export interface TurnQueue {
  /** Gives each receiver a turn now, unless it has one. Takes effect with the transaction, which from then on holds lockWebhooks(). */
  wake(client: PoolClient, webhookIds: readonly string[]): Promise<void>;
  /** Ends a turn; the receiver's next turn is in `nextInSeconds`, if not null. Takes effect with the transaction, like `wake`. */
  finish(client: PoolClient, turn: Turn, nextInSeconds: number | null): Promise<void>;
  /** Due turns that no other worker has taken. */
  take(most: number): Promise<Turn[]>;
  /** Whether no receiver has a turn, due or later, taken or not. */
  isEmpty(): Promise<boolean>;
  /** Renews the leases of these turns; a turn whose lease expires after `LEASE_SECONDS` goes to another worker. */
  touch(turns: readonly Turn[]): Promise<void>;
  close(): Promise<void>;
}

const SCHEMA = 'webhook_queue';
const QUEUE = 'receivers';
const LEASE_SECONDS = 20;
const CONNECTIONS = 3;
/** Options for the pool that pg-boss opens: without them it waits forever for a server that has silently gone away. */
const ENDS_IN_TIME = { ...KEEP_ALIVE, query_timeout: 30_000 };
/** How often turns of dead workers are looked for, while any turn is open. */
const SUPERVISE_SECONDS = 5;
/** How often ended turns are removed. */
const MAINTAIN_SECONDS = 300;
/** Ended turns contain nothing that deliveries do not. */
const KEEP_ENDED_SECONDS = 60;
/** A turn is retried however often its workers crash. */
const RETRIES = 1_000_000;
/** Longer than any wait of a turn. */
const KEEP_WAITING_SECONDS = 30 * 24 * 3600;

/** Priority of receivers that accepted their last message: they never wait behind receivers that time out. */
const WELL = 1;
const FAILING = 0;

const LOCK_SQL = `SELECT id, failing_since FROM webhooks WHERE $1::text[] IS NULL OR id = ANY($1)
  ORDER BY id FOR NO KEY UPDATE`;
const OPEN_SQL = `SELECT EXISTS (SELECT FROM ${SCHEMA}.job WHERE name = '${QUEUE}' AND state <= 'active') AS open`;
const readOpen = rowReader({ open: columns.boolean });
const readState = rowReader({ id: columns.text, failing_since: columns.nullable(columns.date) });

/**
 * Locks webhooks in one order and before their deliveries, so that two transactions never deadlock; the holder of the locks sees all
 * turns and deliveries of these webhooks. Null locks all webhooks. Returns the priority of each webhook that exists.
 */
export async function lockWebhooks(client: PoolClient, ids: readonly string[] | null): Promise<Map<string, number>> {
  const rows = await readRows(client, readState, LOCK_SQL, [ids]);
  return new Map(rows.map(({ id, failing_since }) => [id, failing_since ? FAILING : WELL]));
}

/** Opens the queue; creates and migrates pg-boss's tables, under its own lock. */
export async function openTurnQueue(postgres: Postgres, logger: Logger): Promise<TurnQueue> {
  const { connectionString } = postgres.pool.options;
  if (connectionString === undefined) throw new Error('the Postgres pool was created without an address');
  const boss = new PgBoss({
    connectionString,
    application_name: 'verustream webhooks',
    max: CONNECTIONS,
    ...ENDS_IN_TIME,
    schema: SCHEMA,
    schedule: false,
    supervise: false, // pg-boss itself would also supervise an empty queue
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    maintenanceIntervalSeconds: MAINTAIN_SECONDS,
  });
  let closing = false;
  boss.on('error', (err) => {
    if (!closing) logger.warn({ err }, 'the webhook queue cannot use Postgres');
  });
  boss.on('warning', (warning) => logger.debug({ warning }, 'the queue of webhooks'));
  const isEmpty = async () => (await readRow(postgres.pool, readOpen, OPEN_SQL))?.open === false;
  const stopped = new AbortController();
  let maintainedAt = Number.NEGATIVE_INFINITY;

  async function supervise(): Promise<void> {
    const isDue = performance.now() - maintainedAt >= MAINTAIN_SECONDS * 1000;
    if (isDue || !(await isEmpty())) await boss.supervise(QUEUE);
    if (isDue) maintainedAt = performance.now();
    await pause(SUPERVISE_SECONDS * 1000, stopped.signal, false);
  }

  let supervising: Promise<void> = Promise.resolve();
  const close = async () => {
    closing = true;
    stopped.abort();
    await boss.stop({ graceful: false });
    await supervising;
  };
  try {
    await boss.start();
    await boss.createQueue(QUEUE, { policy: 'exclusive' });
    await boss.updateQueue(QUEUE, {
      heartbeatSeconds: LEASE_SECONDS,
      retryLimit: RETRIES,
      retryDelay: 0,
      deleteAfterSeconds: KEEP_ENDED_SECONDS,
      retentionSeconds: KEEP_WAITING_SECONDS,
    });
  } catch (error) {
    await close();
    throw error;
  }
  supervising = repeatUntil(stopped.signal, supervise, {
    retryMs: SUPERVISE_SECONDS * 1000,
    ref: false,
    onError: (err) => logger.warn({ err }, 'the webhook queue cannot be supervised; trying again'),
  });
  const within = (client: PoolClient) => ({
    db: { executeSql: (text: string, values?: unknown[]) => client.query(text, values) },
  });

  async function startIn(client: PoolClient, webhookIds: readonly string[], seconds: number): Promise<void> {
    const locked = await lockWebhooks(client, webhookIds);
    const startAfter = `${seconds.toFixed(3)} seconds`;
    const jobs = [...locked].map(([singletonKey, priority]) => ({
      id: crypto.randomUUID(),
      singletonKey,
      priority,
      startAfter,
    }));
    const made = new Set(await boss.insert(QUEUE, jobs, { ...within(client), returnId: true }));
    for (const { id, ...turn } of jobs) {
      // The receiver waits for a later turn, or has one at this moment.
      if (!made.has(id)) await boss.update(QUEUE, undefined, { ...within(client), ...turn });
    }
  }

  return {
    wake: (client, webhookIds) => (webhookIds.length === 0 ? Promise.resolve() : startIn(client, webhookIds, 0)),
    async finish(client, { webhookId, job }, nextInSeconds) {
      await boss.complete(QUEUE, job, null, within(client));
      if (nextInSeconds !== null) await startIn(client, [webhookId], nextInSeconds);
    },
    async take(most) {
      const jobs = await boss.fetch(QUEUE, { batchSize: most, includeMetadata: true });
      return jobs.map(({ id, singletonKey, retryCount }) => ({
        webhookId: singletonKey ?? '',
        job: { id, retryCount },
      }));
    },
    isEmpty,
    async touch(turns) {
      if (turns.length > 0)
        await boss.touch(
          QUEUE,
          turns.map(({ job }) => job),
        );
    },
    close,
  };
}
