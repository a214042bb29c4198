/** Facts in ClickHouse, which has no transactions: a start deletes the rows above the committed position. */
import type { ClickHouse } from '../../../infra/clickhouse/clickhouse.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { FactsByType } from '../facts-by-type.ts';
import { CLICKHOUSE_TABLES } from './tables.ts';

export interface InsertOptions {
  readonly chain: string;
  readonly nativeCurrencyId: string;
  /** Called after each table. */
  readonly inserted?: (table: string) => Promise<void>;
}

/** One insert a table, all at once. When one fails the others are waited for, so that none lands after the caller knows. */
export async function insertFacts(clickhouse: ClickHouse, facts: FactsByType, options: InsertOptions): Promise<void> {
  const inserts = CLICKHOUSE_TABLES.map(async ({ name, columns, rows }) => {
    await clickhouse.insert(name, columns, rows(options.chain, options.nativeCurrencyId, facts));
    await options.inserted?.(name);
  });
  const results = await Promise.allSettled(inserts);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Deletes the blocks above `height` from before the rewind record at `position`. Idempotent. */
export async function rewindTo(clickhouse: ClickHouse, chain: string, height: number, position: number): Promise<void> {
  await deleteRows(clickhouse, 'chain = {chain:String} AND height > {height:Int64} AND position < {position:Int64}', {
    chain,
    height,
    position,
  });
}

/** A rewind record at `position` that leaves the blocks up to `height`. */
export interface Rewind {
  readonly position: number;
  readonly height: number;
}

/** Deletes the rows from records after `position` (-1: all rows of the chain), and those that rewinds took away before. Idempotent. */
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

/** Whether there is any block of the chain. */
export async function holdsBlocks(clickhouse: ClickHouse, chain: string): Promise<boolean> {
  const rows = await clickhouse.rows(readHeight, 'SELECT height FROM blocks WHERE chain = {chain:String} LIMIT 1', {
    chain,
  });
  return rows.length > 0;
}

const readHeight = rowReader({ height: columns.number });
const readTable = rowReader({ name: columns.text });

/** Complete for readers when it resolves. Asks first: a delete goes through every part of a table even if it matches nothing. */
async function deleteRows(clickhouse: ClickHouse, condition: string, params: Record<string, unknown>): Promise<void> {
  const counts = CLICKHOUSE_TABLES.map(
    ({ name }) => `SELECT '${name}' AS name FROM ${name} WHERE ${condition} LIMIT 1`,
  );
  const found = await clickhouse.rows(readTable, counts.join(' UNION ALL '), params);
  await Promise.all(found.map(({ name }) => clickhouse.command(`DELETE FROM ${name} WHERE ${condition}`, params)));
}
