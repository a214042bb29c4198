/** Keeps stages from changing the stores for a moment, so that what differs then really does. */
import type { PoolClient } from 'pg';
import type { OwnedStage } from '../../schemas/stages.ts';
import { changingKey, ownerKey } from './stage-lock.ts';

/** SQLSTATE of a stage that does not come to rest soon: it rewinds, or repairs what a crash left. */
export const NOT_AT_REST = '55P03';

export interface Writer {
  readonly stage: OwnedStage;
  readonly chain: string;
}

/**
 * Until the end of the transaction no stage begins another one; those under way are waited for. → whether each has an owner:
 * without one, what a crash left may still be there. Who keeps the stages waiting longer than `longest` loses the transaction.
 */
export async function pauseStages(client: PoolClient, writers: readonly Writer[], longest = '10s'): Promise<boolean> {
  await client.query(`SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = '${longest}';
    SET LOCAL idle_in_transaction_session_timeout = '${longest}'`);
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
