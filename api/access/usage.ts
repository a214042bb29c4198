/** Usage of each identity, counted in memory and written every second: no request waits for the write, and each batch counts once. */
import { setInterval } from 'node:timers';
import type { Logger } from '../../infra/logger.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { createUsageCounts, type Payer, type Refusal, type UsageCount } from './usage-counts.ts';
import { STEP_KEPT, STEP_SECONDS } from './usage-steps.ts';

export interface Use {
  readonly requests: number;
  /** Credits paid, including those of refused requests. */
  readonly credits: number;
  readonly refusal: Refusal | null;
}

/** Reverts the credits of work that failed through a fault of the service. Call it at most once. */
export type Refund = () => void;

export interface Usage {
  /** `route` is the pattern of the route, so that there are few. */
  record(payer: Payer, route: string, use: Use): Refund;
  /** Writes the counts so far. */
  flush(): Promise<void>;
  /** Stops the timer and writes the rest. A killed process loses at most the last two seconds. */
  stop(): Promise<void>;
}

export interface UsageOptions {
  readonly postgres: Pick<Postgres, 'pool'>;
  /** Unique name of this process. */
  readonly process: string;
  readonly logger: Logger;
}

/** Maximum delay from the request to the table: one flush interval plus one statement. */
export const WRITTEN_WITHIN_S = 2;
const FLUSH_MS = 1_000;
const MINUTES_BETWEEN_SWEEPS = 60;

const WIDTHS = Object.entries(STEP_SECONDS).map(([step, seconds]) => `('${step}', ${seconds})`);
/** Idempotent: a batch whose serial is not new was already written, although the answer was lost, and changes nothing. */
const ADD_SQL = `WITH batch AS (INSERT INTO usage_batches AS b VALUES ($1, $2, now())
    ON CONFLICT (process) DO UPDATE SET serial = EXCLUDED.serial, written_at = now() WHERE b.serial < EXCLUDED.serial
    RETURNING serial),
  counted AS (SELECT c.* FROM batch, unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
      $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[])
    AS c(chain, identity_address, key_id, route, minute, requests, credits, rate, key, tier, last_ms))
  INSERT INTO account_usage AS u (chain, identity_address, step, at, key_id, route,
    requests, credits, rate_limited, key_limited, tier_required, last_at)
  SELECT c.chain, c.identity_address, s.step, to_timestamp(c.minute / s.width * s.width) AS at, c.key_id,
    CASE WHEN s.step = 'hour' THEN c.route ELSE '' END AS of_route,
    sum(c.requests), sum(c.credits), sum(c.rate), sum(c.key), sum(c.tier), to_timestamp(max(c.last_ms) / 1000.0)
  FROM counted c CROSS JOIN (VALUES ${WIDTHS.join(', ')}) AS s(step, width)
  GROUP BY c.chain, c.identity_address, s.step, at, c.key_id, of_route
  ORDER BY c.chain, c.identity_address, s.step, at, c.key_id, of_route
  ON CONFLICT (chain, identity_address, step, at, key_id, route) DO UPDATE SET requests = u.requests + EXCLUDED.requests,
    credits = u.credits + EXCLUDED.credits, rate_limited = u.rate_limited + EXCLUDED.rate_limited,
    key_limited = u.key_limited + EXCLUDED.key_limited, tier_required = u.tier_required + EXCLUDED.tier_required,
    last_at = greatest(u.last_at, EXCLUDED.last_at)`;

interface Batch {
  readonly serial: number;
  readonly rows: readonly UsageCount[];
}

export function startUsage({ postgres: { pool }, process, logger }: UsageOptions): Usage {
  const counts = createUsageCounts();
  /** A batch that was sent but not confirmed; it is sent again with the same serial before anything else. */
  let sent: Batch | null = null;
  let serial = 0;
  let writing: Promise<void> = Promise.resolve();
  let sweptAt = 0;

  async function sweep(): Promise<void> {
    const minutes = Math.floor(Date.now() / 60_000);
    if (minutes - sweptAt < MINUTES_BETWEEN_SWEEPS) return;
    for (const [step, kept] of Object.entries(STEP_KEPT)) {
      await pool.query('DELETE FROM account_usage WHERE step = $1 AND at < now() - $2::interval', [step, kept]);
    }
    await pool.query(`DELETE FROM usage_batches WHERE written_at < now() - interval '1 day'`);
    sweptAt = minutes;
  }

  function nextBatch(): Batch | null {
    const rows = counts.take();
    if (rows.length === 0) return null;
    serial += 1;
    return { serial, rows };
  }

  async function send(batch: Batch): Promise<void> {
    sent = batch;
    const column = <T>(read: (count: UsageCount) => T) => batch.rows.map(read);
    await pool.query(ADD_SQL, [
      process,
      batch.serial,
      column((row) => row.chain),
      column((row) => row.identityAddress),
      column((row) => row.keyId),
      column((row) => row.route),
      column((row) => row.minute),
      column((row) => row.requests),
      column((row) => row.credits),
      column((row) => row.rate),
      column((row) => row.key),
      column((row) => row.tier),
      column((row) => row.lastAt),
    ]);
    sent = null;
  }

  async function write(): Promise<void> {
    if (sent) await send(sent);
    const batch = nextBatch();
    if (batch) await send(batch);
    await sweep();
  }

  function flush(): Promise<void> {
    writing = writing.catch(() => undefined).then(write);
    return writing;
  }

  const safely = () =>
    flush().catch((err: unknown) => logger.warn({ err }, 'usage could not be written; trying again'));
  let isWriting = false;
  let isDue = false;
  const timer = setInterval(async () => {
    isDue = true;
    if (isWriting) return; // one write with all new counts follows at once, instead of a queue of writes behind a slow store
    isWriting = true;
    while (isDue) {
      isDue = false;
      await safely();
    }
    isWriting = false;
  }, FLUSH_MS);
  timer.unref();
  return {
    record(payer, route, { requests, credits, refusal }) {
      const now = Date.now();
      const minute = Math.floor(now / 60_000) * 60;
      const count = counts.of(payer, route, minute);
      count.requests += requests;
      count.credits += credits;
      if (refusal) count[refusal] += 1;
      count.lastAt = now;
      return () => {
        // The count may already be written; a negative amount is then added to the same row.
        const again = counts.of(payer, route, minute);
        again.credits -= credits;
        again.lastAt = Math.max(again.lastAt, now);
      };
    },
    flush,
    async stop() {
      clearInterval(timer);
      isDue = false;
      await safely();
    },
  };
}
