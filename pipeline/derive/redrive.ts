/**
 * Derives a chain again from a given block: rewinds both stores in one commit, publishes the rewind to the facts topic, then reads the log
 * again. The request stays in Postgres until it is done, so it is resumed after a crash between these steps.
 */
import type { Pool } from 'pg';
import { metrics } from '../../infra/metrics.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { forgetStagePosition, moveStagePosition, type StagePosition } from '../../infra/postgres/stage-positions.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import { cutBackTo } from '../sinks/clickhouse/clickhouse-sink.ts';
import { rewindTo } from '../sinks/postgres/postgres-sink.ts';
import { forgetRewindsAfter } from '../sinks/postgres/removed-blocks.ts';
import type { CrashPoint } from '../stage/crash-point.ts';
import type { StageLock } from '../stage/stage-lock.ts';
import type { FactsPublisher } from './facts-publisher.ts';

export interface RedriveOptions {
  readonly chain: string;
  readonly stores: Stores;
  readonly lock: StageLock;
  readonly crashPoint?: ((point: CrashPoint) => void | Promise<void>) | undefined;
}

const readId = rowReader({ id: columns.bigint });
const readHeight = rowReader({ height: columns.nullable(columns.number) });
const readBlock = rowReader({
  height: columns.number,
  ...storedColumns(DEFINITIONS.block, ['hash', 'clock']),
  position: columns.bigint,
});

/** Channel that is notified of each request; the payload is the chain. */
export const REDRIVES_CHANNEL = 'redrives';

/** Requests that the owner of the chain derives it again from the block at `height` on. Returns the id of the request. */
export async function requestRedrive(pool: Pool, chain: string, height: number): Promise<bigint> {
  const sql = `WITH asked AS (INSERT INTO redrives (chain, height) VALUES ($1, $2) RETURNING id)
    SELECT id, pg_notify('${REDRIVES_CHANNEL}', $1) FROM asked`;
  const row = await readRow(pool, readId, sql, [chain, height]);
  if (!row) throw new TypeError('an insert returned no id');
  return row.id;
}

export async function isRedriven(pool: Pool, id: bigint): Promise<boolean> {
  return (await pool.query('SELECT FROM redrives WHERE id = $1 AND state = $2', [id, 'done'])).rowCount === 1;
}

/** Returns the lowest requested height to which the stores have not been rewound yet, or null without a pending request. */
export async function pendingRedriveHeight(pool: Pool, chain: string): Promise<number | null> {
  const sql = `SELECT min(height) AS height FROM redrives WHERE chain = $1 AND state = 'asked'`;
  return (await readRow(pool, readHeight, sql, [chain]))?.height ?? null;
}

/** Rewinds both stores to before the block of a pending request, if there is one. Returns their position afterwards. */
export async function rewindForRedrive(
  { chain, stores, lock, crashPoint }: RedriveOptions,
  committed: StagePosition | null,
): Promise<StagePosition | null> {
  const height = await pendingRedriveHeight(stores.postgres.pool, chain);
  if (height === null) return committed;
  const kept = await positionBefore(stores.postgres.pool, chain, height, committed);
  const stop = metrics.batchSeconds.labels({ chain, stage: 'derive' }).startTimer();
  await lock.transaction(async (client) => {
    await crashPoint?.('begin');
    if (committed && kept !== committed) {
      // The rows from records after `kept` are those above its height: earlier rewinds have removed all others.
      await cutBackTo(stores.clickhouse, chain, kept?.position ?? -1);
      await crashPoint?.('clickhouse');
      await rewindTo(client, chain, height - 1);
      await forgetRewindsAfter(client, chain, kept?.position ?? -1);
      if (kept) await moveStagePosition(client, 'derive', chain, committed, kept);
      else await forgetStagePosition(client, 'derive', chain, committed);
    }
    await client.query(
      `UPDATE redrives SET state = 'taken_back' WHERE chain = $1 AND state = 'asked' AND height >= $2`,
      [chain, height],
    );
    await crashPoint?.('postgres');
  });
  stop();
  await crashPoint?.('commit');
  return kept;
}

/** Publishes the rewind to readers of the topic and marks the request as done. `committed` is the position of the stores. */
export async function publishRedrive(
  { chain, stores, crashPoint }: RedriveOptions,
  publisher: FactsPublisher,
  committed: StagePosition | null,
): Promise<void> {
  const { pool } = stores.postgres;
  const taken = await pool.query(`SELECT FROM redrives WHERE chain = $1 AND state = 'taken_back' LIMIT 1`, [chain]);
  if (taken.rowCount === 0) return;
  await publisher.publishRewind(committed);
  await crashPoint?.('facts');
  await pool.query(`UPDATE redrives SET state = 'done' WHERE chain = $1 AND state = 'taken_back'`, [chain]);
}

/** Returns the position right before the record of the block at `height`: that of the previous block, or of a rewind to it. */
async function positionBefore(
  pool: Pool,
  chain: string,
  height: number,
  committed: StagePosition | null,
): Promise<StagePosition | null> {
  if (!committed || height > committed.height) return committed;
  if (height === 0) return null;
  const rows = await readRows(
    pool,
    readBlock,
    'SELECT height, hash, clock, position FROM blocks WHERE chain = $1 AND height IN ($2, $2 - 1) ORDER BY height',
    [chain, height],
  );
  const [before, block] = rows;
  if (!before || !block) {
    throw new PermanentError(
      'redrive_impossible',
      `The stores of ${chain} hold no block ${height}: rebuild them from the log.`,
    );
  }
  return { position: Number(block.position) - 1, height: height - 1, hash: before.hash, clock: Number(before.clock) };
}
