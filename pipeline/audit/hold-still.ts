/** Keeps stages from changing the stores for a moment, so that what differs then really does. */
import type { PoolClient } from 'pg';
import type { Stage } from '../../schemas/stage-status.ts';
import { changingKey, ownerKey } from '../stage-lock.ts';

export interface Writer {
  readonly stage: Stage;
  readonly chain: string;
}

/**
 * Until the end of the transaction no stage begins another one; those under way are waited for. → whether each has an owner:
 * without one, what a crash left may still be there. Who waits longer than 10 s, or keeps the stages waiting that long, fails.
 */
export async function holdStill(client: PoolClient, writers: readonly Writer[]): Promise<boolean> {
  await client.query(`SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '10s';
    SET LOCAL idle_in_transaction_session_timeout = '10s'`);
  let owned = true;
  for (const { stage, chain } of writers) {
    await client.query('SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))', [changingKey(stage, chain)]);
    const { rows } = await client.query<{ free: boolean }>(
      'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS free',
      [ownerKey(stage, chain)],
    );
    if (rows[0]?.free !== false) owned = false;
  }
  return owned;
}
