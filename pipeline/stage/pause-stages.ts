/** Pauses stages for a moment, so that the two stores can be compared at rest. */
import type { PoolClient } from 'pg';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { OwnedStage } from '../../schemas/stages.ts';
import { changingKey, ownerKey } from './stage-lock.ts';

/** SQLSTATE if a stage does not pause in time because it rewinds or repairs the stores after a crash. */
export const NOT_AT_REST = '55P03';

export interface Writer {
  readonly stage: OwnedStage;
  readonly chain: string;
}

const readFree = rowReader({ free: columns.boolean });

/**
 * Waits for the transactions that these stages have open, and lets none begin another before the caller's transaction ends. Returns
 * whether each stage has an owner: without one, the stores may still hold what a crash left. Postgres ends the caller's transaction when
 * it lasts longer than `longest`.
 */
export async function pauseStages(client: PoolClient, writers: readonly Writer[], longest = '10s'): Promise<boolean> {
  await client.query(`SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = '${longest}';
    SET LOCAL idle_in_transaction_session_timeout = '${longest}'`);
  let owned = true;
  for (const { stage, chain } of writers) {
    await client.query('SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))', [changingKey(stage, chain)]);
    const sql = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS free';
    const row = await readRow(client, readFree, sql, [ownerKey(stage, chain)]);
    if (row?.free !== false) owned = false;
  }
  return owned;
}
