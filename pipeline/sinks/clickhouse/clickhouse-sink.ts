/** Writes facts to ClickHouse, which has no transactions: each start deletes the rows beyond the committed position. */
import { allEnded } from '../../../infra/all-ended.ts';
import type { ClickHouse } from '../../../infra/clickhouse/clickhouse.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { FactsByType } from '../facts-by-type.ts';
import { CLICKHOUSE_TABLES } from './tables.ts';

export interface InsertOptions {
  readonly chain: string;
  readonly nativeCurrencyId: string;
  /** Called after the insert into each table. */
  readonly inserted?: (table: string) => Promise<void>;
}

/** Inserts into all tables in parallel. If an insert fails, waits for the others, so that none lands after the caller has the error. */
export async function insertFacts(clickhouse: ClickHouse, facts: FactsByType, options: InsertOptions): Promise<void> {
  const inserts = CLICKHOUSE_TABLES.map(async ({ name, columns, rows }) => {
    await clickhouse.insert(name, columns, rows(options.chain, options.nativeCurrencyId, facts));
    await options.inserted?.(name);
  });
  await allEnded(inserts);
}

/** Deletes rows above `height` that come from records before the rewind record at `position`. Idempotent. */
export async function rewindTo(clickhouse: ClickHouse, chain: string, height: number, position: number): Promise<void> {
  await deleteRows(clickhouse, 'chain = {chain:String} AND height > {height:Int64} AND position < {position:Int64}', {
    chain,
    height,
    position,
  });
}

/** A rewind record at `position` that keeps the blocks up to `height`. */
export interface Rewind {
  readonly position: number;
  readonly height: number;
}

/** Deletes rows from records after `position` (-1: all rows of the chain), and rows that the given rewinds removed before. Idempotent. */
export async function cutBackTo(
  clickhouse: ClickHouse,
  chain: string,
  position: number,
  rewinds: readonly Rewind[] = [],
): Promise<void> {
  const rewound = rewinds.map((_, i) => ` OR (height > {height${i}:Int64} AND position < {position${i}:Int64})`);
  const places = rewinds.flatMap((rewind, i) => [
    [`height${i}`, rewind.height],
    [`position${i}`, rewind.position],
  ]);
  const condition = `chain = {chain:String} AND (position > {position:Int64}${rewound.join('')})`;
  await deleteRows(clickhouse, condition, { chain, position, ...Object.fromEntries(places) });
}

/** Returns whether ClickHouse has any block of the chain. */
export async function holdsBlocks(clickhouse: ClickHouse, chain: string): Promise<boolean> {
  const rows = await clickhouse.rows(readHeight, 'SELECT height FROM blocks WHERE chain = {chain:String} LIMIT 1', {
    chain,
  });
  return rows.length > 0;
}

const readHeight = rowReader({ height: columns.number });
const readTable = rowReader({ name: columns.text });

/** Resolves when readers see the delete. Checks for rows first: a delete goes through every part of a table even if no row matches. */
async function deleteRows(clickhouse: ClickHouse, condition: string, params: Record<string, unknown>): Promise<void> {
  const counts = CLICKHOUSE_TABLES.map(
    ({ name }) => `SELECT '${name}' AS name FROM ${name} WHERE ${condition} LIMIT 1`,
  );
  const found = await clickhouse.rows(readTable, counts.join(' UNION ALL '), params);
  await Promise.all(found.map(({ name }) => clickhouse.command(`DELETE FROM ${name} WHERE ${condition}`, params)));
}
