/** Writes facts to Postgres. Both functions work in the caller's transaction, whose commit completes a batch. */
import type { PoolClient } from 'pg';
import { copyRows } from '../../../infra/postgres/copy.ts';
import type { FactsByType } from '../facts-by-type.ts';
import { collectRows } from './collect-rows.ts';
import { endRows } from './end-rows.ts';
import { appendSeries, rewindSeries } from './series-rows.ts';
import type { EndingTable, SeriesTable } from './table.ts';
import { POSTGRES_TABLES, WITH_BLOCKS } from './tables.ts';

/** Forces index lookups: every lookup here is by key, but without statistics Postgres may plan a scan of a new table. */
const BY_KEY = `SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
  SET LOCAL plan_cache_mode = force_custom_plan`;

/** Adds the batch's rows and ends the rows that the batch ends. @throws EndWithoutRow */
export async function writeFacts(client: PoolClient, chain: string, facts: FactsByType): Promise<void> {
  await client.query(BY_KEY);
  for (const table of POSTGRES_TABLES) {
    if (table.life === 'series') {
      await appendSeries(client, table, chain, facts);
      continue;
    }
    const changes = collectRows(table, chain, facts);
    // Ends first, while the newest row in the store is not one of the batch's own.
    if (table.life !== 'event') await endRows(client, table, chain, changes.ends);
    if (changes.count > 0) await copyRows(client, table.name, changes.columns, changes.rows());
  }
}

/** Restores the chain to right after the block at `height`: deletes rows that began later, reopens rows that ended later. */
export async function rewindTo(client: PoolClient, chain: string, height: number): Promise<void> {
  await client.query(BY_KEY);
  for (const table of [...POSTGRES_TABLES, ...WITH_BLOCKS]) {
    for (const statement of rewindStatements(table)) await client.query(statement, [chain, height]);
  }
}

type Rewound = { readonly name: string } & (
  | Pick<EndingTable, 'life' | 'endColumns'>
  | { readonly life: 'event' | 'versions' }
  | SeriesTable
);

function rewindStatements(table: Rewound): string[] {
  if (table.life === 'event') return [`DELETE FROM ${table.name} WHERE chain = $1 AND height > $2`];
  if (table.life === 'series') return [rewindSeries(table)];
  const ends = ['to_height', ...(table.life === 'ending' ? table.endColumns.map(({ name }) => name) : [])];
  return [
    `DELETE FROM ${table.name} WHERE chain = $1 AND from_height > $2`,
    `UPDATE ${table.name} SET ${ends.map((name) => `${name} = NULL`).join(', ')} WHERE chain = $1 AND to_height > $2`,
  ];
}
