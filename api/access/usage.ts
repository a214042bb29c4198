/** Usage of each key by minute: counted in memory and written periodically, so that no request waits for it. */
import { setInterval } from 'node:timers';
import type { Logger } from '../../infra/logger.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import type { KeyOwner } from './key-store.ts';

export interface UsageRow {
  readonly key_id: string;
  readonly minute: Date;
  readonly requests: bigint;
  readonly credits: bigint;
  readonly refused: bigint;
}

export interface Usage {
  /** `credits`: amount paid, also by refused requests. */
  record(keyId: string, credits: number, accepted: boolean): void;
  /** Writes the counts so far. */
  flush(): Promise<void>;
  /** A killed process loses at most some seconds of unwritten counts. */
  stop(): Promise<void>;
}

interface Count {
  readonly keyId: string;
  /** Seconds since the epoch. */
  readonly minute: number;
  requests: number;
  credits: number;
  refused: number;
}

const FLUSH_MS = 2_000;
const KEPT = '30 days';
const MINUTES_BETWEEN_SWEEPS = 60;

const ADD_SQL = `INSERT INTO key_usage AS u (key_id, minute, requests, credits, refused)
  SELECT key_id, to_timestamp(minute), requests, credits, refused
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS c(key_id, minute, requests, credits, refused)
  ON CONFLICT (key_id, minute) DO UPDATE SET requests = u.requests + EXCLUDED.requests,
    credits = u.credits + EXCLUDED.credits, refused = u.refused + EXCLUDED.refused`;
const SWEEP_SQL = `DELETE FROM key_usage WHERE minute < now() - interval '${KEPT}'`;
const READ_SQL = `SELECT u.key_id, u.minute, u.requests, u.credits, u.refused FROM key_usage u JOIN api_keys k ON k.id = u.key_id
  WHERE k.chain = $1 AND k.identity_address = $2 AND u.minute >= to_timestamp($3) AND u.minute < to_timestamp($4)
    AND ($5::text IS NULL OR k.id = $5) AND ($7::bigint IS NULL OR (u.minute, $8) < (to_timestamp($7), u.key_id))
  ORDER BY u.minute DESC, u.key_id LIMIT $6`;

export interface UsageQuery {
  /** Seconds since the epoch, exclusive at the end. */
  readonly from: number;
  readonly to: number;
  readonly keyId: string | null;
  readonly limit: number;
  /** Place of the last row that the caller has; null for the first page. */
  readonly after: UsageCursor | null;
}

export interface UsageCursor {
  /** Seconds since the epoch. */
  readonly minute: number;
  readonly keyId: string;
}

/** Newest first, revoked keys included. */
export async function readUsage({ pool }: Postgres, holder: KeyOwner, asked: UsageQuery): Promise<UsageRow[]> {
  const { chain, identityAddress } = holder;
  const { after } = asked;
  const values = [
    chain,
    identityAddress,
    asked.from,
    asked.to,
    asked.keyId,
    asked.limit,
    after?.minute ?? null,
    after?.keyId ?? '',
  ];
  return (await pool.query<UsageRow>(READ_SQL, values)).rows;
}

export function startUsage({ pool }: Postgres, logger: Logger): Usage {
  /** By minute and key. */
  let counts = new Map<number, Map<string, Count>>();
  let writing: Promise<void> = Promise.resolve();
  let sweptAt = 0;

  function add(keyId: string, minute: number, requests: number, credits: number, refused: number): void {
    let ofMinute = counts.get(minute);
    if (!ofMinute) {
      ofMinute = new Map();
      counts.set(minute, ofMinute);
    }
    const count = ofMinute.get(keyId);
    if (!count) {
      ofMinute.set(keyId, { keyId, minute, requests, credits, refused });
      return;
    }
    count.requests += requests;
    count.credits += credits;
    count.refused += refused;
  }

  async function write(): Promise<void> {
    const minutes = Math.floor(Date.now() / 60_000);
    if (minutes - sweptAt >= MINUTES_BETWEEN_SWEEPS) {
      await pool.query(SWEEP_SQL);
      sweptAt = minutes;
    }
    const rows = [...counts.values()].flatMap((ofMinute) => [...ofMinute.values()]);
    rows.sort((a, b) => a.minute - b.minute || (a.keyId < b.keyId ? -1 : 1));
    if (rows.length === 0) return;
    counts = new Map();
    const column = <T>(read: (count: Count) => T) => rows.map(read);
    const values = [column((row) => row.keyId), column((row) => row.minute), column((row) => row.requests)];
    await pool
      .query(ADD_SQL, [...values, column((row) => row.credits), column((row) => row.refused)])
      .catch((error: unknown) => {
        for (const row of rows) add(row.keyId, row.minute, row.requests, row.credits, row.refused);
        throw error;
      });
  }

  function flush(): Promise<void> {
    writing = writing.catch(() => undefined).then(write);
    return writing;
  }

  const safely = () =>
    flush().catch((err: unknown) => logger.warn({ err }, 'usage could not be written; trying again'));
  const timer = setInterval(safely, FLUSH_MS);
  timer.unref();
  return {
    record(keyId, credits, accepted) {
      const minute = Math.floor(Date.now() / 60_000) * 60;
      add(keyId, minute, 1, credits, accepted ? 0 : 1);
    },
    flush,
    async stop() {
      clearInterval(timer);
      await safely();
    },
  };
}
