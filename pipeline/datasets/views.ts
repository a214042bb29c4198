/** The tables of the data set that ClickHouse holds, as views of what is served at the moment. */
import type { PoolClient } from 'pg';
import { inTransaction } from '../../infra/postgres/postgres.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import type { CopiedTable, DatasetTable } from '../../schemas/datasets/table.ts';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { type PricedState, pricedState } from './export-state.ts';
import { viewSelect } from './select-day.ts';

export type ViewedTable = Exclude<DatasetTable, CopiedTable>;

export const VIEWED_TABLES: readonly ViewedTable[] = DATASET_TABLES.filter((table) => table.store !== 'postgres');
export const viewName = ({ name }: Pick<DatasetTable, 'name'>): string => `v_${name}`;

/** What precedes a statement that uses the views of `names`; empty for none. */
export async function viewsSql({ postgres }: Pick<Stores, 'postgres'>, names: ReadonlySet<string>): Promise<string> {
  const tables = VIEWED_TABLES.filter((table) => names.has(viewName(table)));
  if (tables.length === 0) return '';
  return inTransaction(postgres.pool, async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const [condition, priced] = [await committed(client), await pricedState(client)];
    return `WITH ${tables.map((table) => viewSql(table, condition, priced)).join(',\n')}\n`;
  });
}

const viewSql = (table: ViewedTable, condition: (height: string) => string, priced: PricedState): string =>
  `${viewName(table)} AS (${viewSelect(table, condition, priced)})`;

const readPlace = rowReader({ chain: columns.text, height: columns.number });

/** ClickHouse may be a batch ahead of the commit. A chain's name has no quote. */
async function committed(client: PoolClient): Promise<(height: string) => string> {
  const rows = await readRows(
    client,
    readPlace,
    `SELECT chain, height FROM ${positionsOf('derive')} AS p ORDER BY chain`,
  );
  if (rows.length === 0) return () => 'false';
  return (column) => rows.map(({ chain, height }) => `chain = '${chain}' AND ${column} <= ${height}`).join(' OR ');
}
