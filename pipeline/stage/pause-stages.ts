/** Pauses stages for a moment, so that the two stores can be compared at rest. */
import type { Pool, PoolClient } from 'pg';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { errorCode } from '../../infra/system-errors.ts';
import type { OwnedStage } from '../../schemas/stages.ts';
import { changingKey, ownerKey } from './stage-lock.ts';

/** SQLSTATE when Postgres waits too long for a lock. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Whether a stage did not pause in time, because it rewinds or repairs the stores after a crash. */
export const isNotAtRest = (error: unknown): boolean => errorCode(error) === LOCK_NOT_AVAILABLE;

export interface Writer {
  readonly stage: OwnedStage;
  readonly chain: string;
}

const readFree = rowReader({ free: columns.boolean });

/**
 * Waits for open transactions of these stages, and prevents new ones until the caller's transaction ends. Returns whether each stage has
 * an owner: without an owner, the stores may still contain leftovers of a crash. Postgres ends the caller's transaction when it lasts
 * longer than `longest`; it waits up to `patience` for each stage.
 */
export async function pauseStages(
  client: PoolClient,
  writers: readonly Writer[],
  longest = '10s',
  patience = '2s',
): Promise<boolean> {
  await client.query(`SET LOCAL lock_timeout = '${patience}'; SET LOCAL statement_timeout = '${longest}';
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

const readKey = rowReader({ key: columns.text });

/** Returns the stages that have an owner. */
export async function ownedStages(pool: Pool, writers: readonly Writer[]): Promise<Writer[]> {
  const keys = writers.map(({ stage, chain }) => ownerKey(stage, chain));
  const rows = await readRows(
    pool,
    readKey,
    `SELECT key FROM unnest($1::text[]) AS key WHERE EXISTS (SELECT FROM pg_locks
       WHERE locktype = 'advisory' AND granted AND objsubid = 1
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND (classid::bigint << 32 | objid::bigint) = hashtextextended(key, 0))`,
    [keys],
  );
  const owned = new Set(rows.map(({ key }) => key));
  return writers.filter(({ stage, chain }) => owned.has(ownerKey(stage, chain)));
}
