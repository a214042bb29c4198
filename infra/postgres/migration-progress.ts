/** Logs the progress of a long change of the tables: the service does not answer until the change is done. */
import type { PoolClient } from 'pg';
import type { Logger } from '../logger.ts';
import { pause } from '../repeat-until.ts';
import { columns, type RowRead, rowReader } from '../row-reader.ts';
import type { Postgres } from './postgres.ts';
import { readRow } from './read-rows.ts';

const EVERY_MS = 10_000;
const MEGABYTE = 1024 * 1024;

/** Only the build of an index has a known total: blocks of the table to read, then entries to sort in. */
const SQL = `SELECT pg_database_size(current_database()) AS bytes, i.phase,
    CASE WHEN i.pid IS NOT NULL THEN coalesce((SELECT relname::text FROM pg_class WHERE oid = i.relid), 'a new table') END AS indexed,
    CASE WHEN i.blocks_total > 0 THEN i.blocks_done ELSE i.tuples_done END AS done,
    CASE WHEN i.blocks_total > 0 THEN i.blocks_total ELSE i.tuples_total END AS total
  FROM (SELECT 1) one LEFT JOIN pg_stat_progress_create_index i ON i.pid = $1 AND i.datname = current_database()`;
const { nullable } = columns;
const readSample = rowReader({
  bytes: columns.bigint,
  phase: nullable(columns.text),
  indexed: nullable(columns.text),
  done: nullable(columns.bigint),
  total: nullable(columns.bigint),
});
const readPid = rowReader({ pid: columns.number });

type Sample = RowRead<typeof readSample> & { readonly at: number };

/** Runs `work`, which changes the tables through `client`, and logs its progress every ten seconds. */
export async function withProgress(
  { pool }: Pick<Postgres, 'pool'>,
  client: PoolClient,
  migration: string,
  logger: Logger,
  work: () => Promise<unknown>,
  everyMs = EVERY_MS,
): Promise<void> {
  const pid = (await readRow(client, readPid, 'SELECT pg_backend_pid() AS pid'))?.pid;
  const done = new AbortController();
  const began = performance.now();

  async function report(): Promise<void> {
    let before: Sample | null = null;
    for (;;) {
      await pause(everyMs, done.signal);
      if (done.signal.aborted) return;
      try {
        const row = await readRow(pool, readSample, SQL, [pid]);
        if (!row || done.signal.aborted) return;
        const now = { ...row, at: performance.now() };
        const seconds = Math.round((now.at - began) / 1000);
        logger.info({ migration, seconds, ...progressOf(before, now) }, 'changing the tables of an earlier version');
        before = now;
      } catch (err) {
        logger.debug({ migration, err }, 'how far the change of the tables is could not be read');
      }
    }
  }

  const reporting = report();
  try {
    await work();
  } finally {
    done.abort();
    await reporting;
  }
}

export interface MigrationProgress {
  /** Growth of the database since the last log line; unknown in the first line. */
  readonly megabytesPerSecond?: number;
  /** The table that gets an index. */
  readonly indexed?: string;
  readonly phase?: string;
  /** How much of the phase is done. */
  readonly percent?: number;
  readonly perSecond?: number;
  readonly etaSeconds?: number;
}

/** `before` is the sample of the last log line. */
export function progressOf(before: Sample | null, now: Sample): MigrationProgress {
  const seconds = before ? (now.at - before.at) / 1000 : 0;
  const grown = before && seconds > 0 ? Number(now.bytes - before.bytes) / MEGABYTE / seconds : null;
  const written = grown === null ? {} : { megabytesPerSecond: Math.max(0, Math.round(grown)) };
  const { indexed, phase, done, total } = now;
  if (indexed === null || phase === null || done === null || total === null || total === 0n) return written;
  const at = { ...written, indexed, phase, percent: Math.floor((100 * Number(done)) / Number(total)) };
  const last = before && before.indexed === indexed && before.phase === phase ? before.done : null;
  const perSecond = last !== null && seconds > 0 ? Number(done - last) / seconds : 0;
  if (perSecond <= 0) return at;
  return { ...at, perSecond: Math.round(perSecond), etaSeconds: Math.ceil(Number(total - done) / perSecond) };
}
