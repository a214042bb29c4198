/** Cancels statements through another connection, so that the connection of the statement stays usable. */
import type { Pool, PoolClient } from 'pg';
import { pause, repeatUntil } from '../repeat-until.ts';
import { columns, rowReader } from '../row-reader.ts';
import { readRow } from './read-rows.ts';

/** The cancel request is repeated: Postgres does not cancel a statement that it has received but not begun. */
const AGAIN_MS = 1_000;

const readPid = rowReader({ pid: columns.number });

/** Runs `work`, which uses `client` only, and cancels its statement on abort. @throws the reason of `signal` after an abort */
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
    // If Postgres is unreachable, the statement fails too.
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
    await cancelling; // a later cancel request would hit the next statement of the connection
  }
}
