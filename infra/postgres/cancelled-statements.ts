/** Statements that end before their answer: another connection has Postgres cancel them, so that theirs stays in order. */
import type { Pool, PoolClient } from 'pg';
import { pause, repeatUntil } from '../repeat-until.ts';
import { columns, rowReader } from '../row-reader.ts';
import { readRow } from './read-rows.ts';

/** Postgres does not cancel a statement that was sent but that it has not begun. */
const AGAIN_MS = 1_000;

const readPid = rowReader({ pid: columns.number });

/** `work` runs statements on `client` alone. @throws the reason of `signal` for one that it has cancelled */
export async function untilCancelled<T>(
  pool: Pool,
  client: PoolClient,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const session = await readRow(client, readPid, 'SELECT pg_backend_pid() AS pid');
  signal.throwIfAborted();
  const over = new AbortController();
  const cancel = async () => {
    await pool.query('SELECT pg_cancel_backend($1)', [session?.pid]);
    await pause(AGAIN_MS, over.signal);
  };
  let cancelling = Promise.resolve();
  const begin = () => {
    // Where Postgres is away, the statement fails too.
    cancelling = repeatUntil(over.signal, cancel, { retryMs: AGAIN_MS, onError: () => undefined });
  };
  signal.addEventListener('abort', begin);
  try {
    return await work();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', begin);
    over.abort();
    await cancelling; // or it would cancel what the connection runs next
  }
}
