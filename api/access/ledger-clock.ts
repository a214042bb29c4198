/**
 * The time of the shared ledger, in milliseconds. It starts from the clock of Postgres and advances with the monotonic clock of each
 * process, so that no step of a wall clock shortens a minute. Processes exchange their readings every two seconds.
 */
import { setInterval } from 'node:timers';
import type { Logger } from '../../infra/logger.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { SKEW_MS } from './ledger.ts';

export interface LedgerClock {
  now(): number;
  /** Number of live API processes, including this one. */
  members(): number;
  /** Registers work to run after every beat that reached Postgres. */
  onBeat(work: () => Promise<void>): void;
  stop(): Promise<void>;
}

export interface LedgerClockOptions {
  readonly postgres: Postgres;
  /** Unique name of this process. */
  readonly process: string;
  readonly logger: Logger;
  readonly monotonic?: () => number;
  readonly beatMs?: number;
}

const readStart = rowReader({ reading: columns.number });
const readPeer = rowReader({
  process: columns.text,
  /** Expected reading of the peer's clock now. */
  reading: columns.number,
  /** Seconds since the peer's last beat. */
  age: columns.number,
});
type Peer = RowRead<typeof readPeer>;

const BEAT_MS = 2_000;
const MEMBER_TIMEOUT_S = 5;
/** A reading that took longer to fetch is too imprecise to use. */
const SURE_MS = 100;
/** A clock that stays ahead of another process by more than this for BEATS_TO_BELIEVE beats is set back. */
const AHEAD_MS = 250;
/** A single beat can be wrong, when the wall clock of Postgres steps between two beats. */
const BEATS_TO_BELIEVE = 3;

const SECONDS_SINCE = 'extract(epoch FROM clock_timestamp() - seen_at)::float8';
const START_SQL = `SELECT coalesce(max(ledger_ms + ${SECONDS_SINCE} * 1000),
  extract(epoch FROM clock_timestamp()) * 1000)::float8 AS reading FROM allowance_holders`;
/** Writes the reading of this process and reads those of the others. */
const BEAT_SQL = `WITH own AS (
    INSERT INTO allowance_holders VALUES ($1, $2, clock_timestamp())
    ON CONFLICT (process) DO UPDATE SET ledger_ms = EXCLUDED.ledger_ms, seen_at = EXCLUDED.seen_at
  )
  SELECT process, (ledger_ms + ${SECONDS_SINCE} * 1000)::float8 AS reading, ${SECONDS_SINCE} AS age
  FROM allowance_holders WHERE process <> $1`;
const LEAVE_SQL = `DELETE FROM allowance_holders WHERE process = $1 OR seen_at < now() - interval '10 minutes'`;

/** Returns the correction of `own`, given the clock of the slowest other process; 0 if drift and the network explain the difference. */
export function correction(own: number, slowest: number): number {
  if (own - slowest > AHEAD_MS) return slowest - own;
  return slowest - own > SKEW_MS ? slowest - own : 0;
}

export async function startLedgerClock(options: LedgerClockOptions): Promise<LedgerClock> {
  const { postgres, process, logger, monotonic = () => performance.now() } = options;
  const { pool } = postgres;
  const works: (() => Promise<void>)[] = [];
  let members = 1;
  let doubts = 0;
  let beating: Promise<void> = Promise.resolve();
  const asked = monotonic();
  const start = await readRow(pool, readStart, START_SQL);
  // Measured from before the query, so the clock never lags behind the true reading.
  let base = (start?.reading ?? Date.now()) - asked;
  const now = () => base + monotonic();

  async function beat(): Promise<void> {
    const before = monotonic();
    const peers = await readRows(pool, readPeer, BEAT_SQL, [process, Math.round(now())]);
    const active = peers.filter(({ age }) => Math.abs(age) < MEMBER_TIMEOUT_S);
    members = active.length + 1;
    if (monotonic() - before < SURE_MS) follow(active);
    for (const work of works) await work();
  }

  function follow(active: readonly Peer[]): void {
    const move = active.length === 0 ? 0 : correction(now(), Math.min(...active.map(({ reading }) => reading)));
    doubts = move === 0 ? 0 : doubts + 1;
    if (doubts < BEATS_TO_BELIEVE) return;
    logger.warn({ milliseconds: Math.round(move) }, 'the clock of the limiter differs from that of another process');
    base += move;
    doubts = 0;
  }

  const safely = () =>
    beat().catch((err: unknown) =>
      logger.warn({ err }, 'the use of the limits could not be reported to Postgres; trying again'),
    );
  await beat();
  const timer = setInterval(() => {
    beating = beating.then(safely);
  }, options.beatMs ?? BEAT_MS);
  timer.unref();
  return {
    now,
    members: () => members,
    onBeat: (work) => void works.push(work),
    async stop() {
      clearInterval(timer);
      await beating;
      await pool.query(LEAVE_SQL, [process]);
    },
  };
}
