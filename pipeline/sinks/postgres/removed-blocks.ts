/** Keeps the blocks that a rewind removes, so that they can still be requested. */
import type { Pool, PoolClient } from 'pg';
import { readRows } from '../../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ChainRewound } from '../../../schemas/log-records.ts';
import { POSTGRES_TABLES } from './tables.ts';

const COLUMNS = ['chain', 'height', 'position', ...blockColumns()].join(', ');

/** Copies the blocks above the rewind's height before they are deleted. Call it in the transaction of the rewind. */
export async function keepRemovedBlocks(client: PoolClient, chain: string, record: ChainRewound): Promise<void> {
  const { position, height, hash, fromHeight } = record;
  await client.query(
    `INSERT INTO removed_blocks (${COLUMNS}, removed_at, transactions)
     SELECT ${COLUMNS}, $3, transactions_of_block(chain, height) FROM blocks WHERE chain = $1 AND height > $2`,
    [chain, height, position],
  );
  const values = [chain, position, height, Buffer.from(hash, 'hex'), fromHeight];
  await client.query('INSERT INTO reorgs VALUES ($1, $2, $3, $4, $5)', values);
}

/** Deletes the rewinds after a position, which will be derived again. Call it in the transaction that cuts the stores back. */
export async function forgetRewindsAfter(client: PoolClient, chain: string, position: number): Promise<void> {
  await client.query('DELETE FROM removed_blocks WHERE chain = $1 AND removed_at > $2', [chain, position]);
  await client.query('DELETE FROM reorgs WHERE chain = $1 AND position > $2', [chain, position]);
}

const readRewind = rowReader({ position: columns.bigint, height: columns.number });

/** Returns the rewinds whose records are after `position`. */
export async function rewindsAfter(
  pool: Pool,
  chain: string,
  position: number,
): Promise<{ position: number; height: number }[]> {
  const sql = 'SELECT position, height FROM reorgs WHERE chain = $1 AND position > $2 ORDER BY position';
  const rewinds = await readRows(pool, readRewind, sql, [chain, position]);
  return rewinds.map(({ position, height }) => ({ position: Number(position), height }));
}

function blockColumns(): string[] {
  return POSTGRES_TABLES.flatMap((table) => (table.fact === 'block' ? table.columns.map(({ name }) => name) : []));
}
