/** A turn at one receiver: sends its due deliveries one by one, oldest first, until one fails or the turn's time is up. */
import type { PoolClient } from 'pg';
import { metrics } from '../../infra/metrics.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { mayReceiveSql } from './active-webhooks.ts';
import { retryDelayMs } from './retry-schedule.ts';
import type { Attempt, Sender } from './send-message.ts';
import { lockWebhooks, type Turn, type TurnQueue } from './turn-queue.ts';

export interface TurnOptions {
  readonly postgres: Postgres;
  readonly queue: Pick<TurnQueue, 'finish'>;
  readonly sender: Pick<Sender, 'send'>;
  /** The configured chains. */
  readonly chains: readonly string[];
  /** Delays of the retries; those of docs/webhooks.md by default. */
  readonly delaysMs?: readonly number[] | undefined;
  readonly signal: AbortSignal;
}

const readDue = rowReader({
  id: columns.text,
  kind: columns.text,
  body: columns.text,
  attempts: columns.number,
  url: columns.text,
  secrets: columns.texts,
});

interface MeasuredAttempt extends Attempt {
  readonly latencyMs: number;
}

/** Time after which a receiver with many due deliveries gives its place to others. */
const TURN_MS = 20_000;
const GIVEN_UP_AFTER = '5 days';

const DUE_SQL = `SELECT d.id, d.kind, d.body, d.attempts, w.url,
    array_remove(ARRAY[w.secret, CASE WHEN w.old_secret_ends_at > now() THEN w.old_secret END], NULL) AS secrets
  FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
  WHERE w.id = $1 AND ${mayReceiveSql('$2')} AND coalesce(w.held_until <= now(), true)
    AND d.state = 'pending' AND d.next_attempt_at <= now()
  ORDER BY d.serial LIMIT 1`;
const NEXT_SQL = `SELECT extract(epoch FROM greatest(min(d.next_attempt_at), min(w.held_until), now()) - now())::float8 AS seconds
  FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
  WHERE w.id = $1 AND ${mayReceiveSql('$2')} AND d.state = 'pending' HAVING count(*) > 0`;
const readNext = rowReader({ seconds: columns.number });
/** Does nothing if the delivery has had a later attempt. */
const RECORD_SQL = `UPDATE webhook_deliveries SET attempts = attempts + 1, attempted_at = now(), state = $3, status = $4,
    error = $5, next_attempt_at = now() + make_interval(secs => $6::float8 / 1000), latency_ms = $7, answer = $8, answer_cut = $9
  WHERE id = $1 AND attempts = $2 AND state = 'pending'`;
/** The owner may have changed the URL since the attempt began. */
const URL_SQL = 'SELECT url FROM webhooks WHERE id = $1';
const readUrl = rowReader({ url: columns.text });
const SUCCEEDED_SQL = 'UPDATE webhooks SET failing_since = NULL, held_until = NULL WHERE id = $1';
/** Requires that a message's last attempt failed: after a long silence one failure alone proves little. */
const IS_GIVEN_UP = `coalesce($3 AND failing_since <= now() - interval '${GIVEN_UP_AFTER}', false)`;
const FAILED_SQL = `UPDATE webhooks SET failing_since = coalesce(failing_since, now()),
    held_until = now() + make_interval(secs => $2::float8 / 1000),
    enabled = enabled AND NOT ${IS_GIVEN_UP}, disabled_reason = CASE WHEN enabled AND ${IS_GIVEN_UP} THEN 'failing' ELSE disabled_reason END
  WHERE id = $1`;
const GONE_SQL = `UPDATE webhooks SET enabled = false, disabled_reason = 'gone',
    failing_since = coalesce(failing_since, now()) WHERE id = $1`;

/** @throws errors of Postgres; another worker then takes the turn once its lease has ended */
export async function takeTurn(options: TurnOptions, turn: Turn): Promise<void> {
  const { postgres, sender, chains, signal } = options;
  const end = performance.now() + TURN_MS;
  while (!signal.aborted && performance.now() < end) {
    const due = await readRow(postgres.pool, readDue, DUE_SQL, [turn.webhookId, chains]);
    if (!due) break;
    const stop = metrics.webhookSeconds.startTimer();
    const started = performance.now();
    const attempt = await sender.send(due, signal).catch((error: unknown) => {
      if (signal.aborted) return null;
      throw error;
    });
    if (!attempt) break;
    const latencyMs = Math.round(performance.now() - started);
    stop({ outcome: attempt.outcome.kind });
    await postgres.transaction((client) => record(client, options, turn.webhookId, due, { ...attempt, latencyMs }));
    if (attempt.outcome.kind !== 'delivered') break; // other receivers first
  }
  await postgres.transaction(async (client) => {
    await lockWebhooks(client, [turn.webhookId]);
    const next = await readRow(client, readNext, NEXT_SQL, [turn.webhookId, chains]);
    await options.queue.finish(client, turn, next?.seconds ?? null);
  });
}

async function record(
  client: PoolClient,
  { delaysMs }: TurnOptions,
  webhookId: string,
  { id, attempts, url }: RowRead<typeof readDue>,
  { outcome, answer, latencyMs }: MeasuredAttempt,
): Promise<void> {
  await lockWebhooks(client, [webhookId]);
  const now = await readRow(client, readUrl, URL_SQL, [webhookId]);
  if (now?.url !== url) return; // the delivery is due at the new URL
  const seen = [latencyMs, answer?.text ?? null, answer?.isCut ?? false];
  if (outcome.kind === 'delivered') {
    await client.query(RECORD_SQL, [id, attempts, 'delivered', outcome.status, null, null, ...seen]);
    await client.query(SUCCEEDED_SQL, [webhookId]);
    return;
  }
  const asked = outcome.kind === 'failed' ? outcome.retryAfterMs : null;
  const delay = retryDelayMs(attempts + 1, asked, Math.random(), delaysMs);
  const error = outcome.kind === 'failed' ? outcome.error : 'answered 410: the receiver is gone';
  const state = delay === null ? 'failed' : 'pending';
  await client.query(RECORD_SQL, [id, attempts, state, outcome.status, error, delay, ...seen]);
  if (outcome.kind === 'gone') await client.query(GONE_SQL, [webhookId]);
  else await client.query(FAILED_SQL, [webhookId, asked, delay === null]);
}
