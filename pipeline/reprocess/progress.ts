/** Progress of a generation in the making, in Postgres: every step commits it with its rows, so that any process can continue. */
import type { Pool, PoolClient } from 'pg';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';

export interface Progress {
  /** Newest tick with prices; −1 before the first, like all ticks here. */
  readonly priced: number;
  /** Newest tick whose conversions are stamped in ClickHouse. */
  readonly stamped: number;
  /** Newest tick whose stamps are in Postgres. */
  readonly copied: number;
  /** Changes with every rewind. */
  readonly undone: number;
  /** Newest tick of the fold. */
  readonly newest: number;
}

export type Reached = Pick<Progress, 'priced' | 'stamped' | 'copied'>;

const readUndone = rowReader({ undone: columns.bigint });
const readStored = rowReader({
  priced: columns.bigint,
  stamped: columns.bigint,
  copied: columns.bigint,
  undone: columns.bigint,
  newest: columns.bigint,
});

/** Null once the generation is ready. */
export async function readProgress(client: Pool | PoolClient, generation: number): Promise<Progress | null> {
  const row = await readRow(
    client,
    readStored,
    `SELECT priced, stamped, copied, undone, coalesce((SELECT max(tick) FROM price_ticks), -1) AS newest
     FROM reprocessing WHERE generation = $1`,
    [generation],
  );
  if (!row) return null;
  const { priced, stamped, copied, undone, newest } = row;
  return {
    priced: Number(priced),
    stamped: Number(stamped),
    copied: Number(copied),
    undone: Number(undone),
    newest: Number(newest),
  };
}

/** Blocks rewinds until the end of the transaction. Returns false when a rewind has happened since `undone` was read. */
export async function holdProgress(client: PoolClient, generation: number, undone: number): Promise<boolean> {
  const sql = 'SELECT undone FROM reprocessing WHERE generation = $1 FOR UPDATE';
  const row = await readRow(client, readUndone, sql, [generation]);
  return row !== undefined && Number(row.undone) === undone;
}

export async function writeProgress(client: PoolClient, generation: number, reached: Partial<Reached>): Promise<void> {
  await client.query(
    `UPDATE reprocessing SET priced = coalesce($2, priced), stamped = coalesce($3, stamped), copied = coalesce($4, copied)
     WHERE generation = $1`,
    [generation, reached.priced ?? null, reached.stamped ?? null, reached.copied ?? null],
  );
}
