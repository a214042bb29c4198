/** The tables of the data set as views of what is served at the moment. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PoolClient } from 'pg';
import type { CsvRows } from '../../infra/clickhouse/csv-rows.ts';
import { inTransaction } from '../../infra/postgres/postgres.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import type { DatasetTable } from '../../schemas/datasets/table.ts';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { withRunsKept } from '../price/ahead-runs.ts';
import { copiedRowsOf, copyOut } from './copied-rows.ts';
import { type PricedState, pricedState } from './export-state.ts';
import { copiedNames, tableSelect } from './select-day.ts';

export const viewName = ({ name }: Pick<DatasetTable, 'name'>): string => `v_${name}`;
export const VIEW_NAMES: readonly string[] = DATASET_TABLES.map(viewName);

export interface ViewsRequest {
  readonly names: ReadonlySet<string>;
  /** Whether the statement may use a column, as far as its text tells. */
  readonly mentions: (column: string) => boolean;
  /** For what Postgres has to copy. */
  readonly seconds: number;
}

/** `work` is given what precedes a statement that uses the views; empty for none. Rows of Postgres are copied for it. */
export async function withViews<T>(
  { postgres, clickhouse }: Pick<Stores, 'postgres' | 'clickhouse'>,
  { names, mentions, seconds }: ViewsRequest,
  work: (views: string) => Promise<T>,
): Promise<T> {
  const tables = DATASET_TABLES.filter((table) => names.has(viewName(table)));
  if (tables.length === 0) return work('');
  const folder = await mkdtemp(join(tmpdir(), 'verustream-sql-'));
  const read = async () => {
    const files: CsvRows[] = [];
    const { condition, priced, copied } = await inTransaction(postgres.pool, async (client) => {
      await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      await client.query(`SET LOCAL statement_timeout = ${seconds * 1000}`);
      const state = { condition: await committed(client), priced: await pricedState(client) };
      const places = new Map<DatasetTable, number>();
      for (const table of tables) {
        const rows = needsCopy(table, mentions) ? copiedRowsOf(table, null, state.priced) : null;
        if (rows)
          places.set(table, files.push(await copyOut(client, rows, folder, AbortSignal.timeout(seconds * 1000))) - 1);
      }
      return { ...state, copied: places };
    });
    return await clickhouse.withCsv(files, (sources) => {
      const sourceOf = (table: DatasetTable) => sources[copied.get(table) ?? -1] ?? null;
      return work(`WITH ${tables.map((table) => viewSql(table, condition, priced, sourceOf(table))).join(',\n')}\n`);
    });
  };
  try {
    // What Postgres copies may take minutes, after which the statement names runs that it saw before.
    return await (tables.some(({ store }) => store === 'prices') ? withRunsKept(postgres.pool, read) : read());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const viewSql = (
  table: DatasetTable,
  condition: (height: string) => string,
  priced: PricedState,
  copied: string | null,
): string => `${viewName(table)} AS (${tableSelect(table, { condition, priced, copied })})`;

/** Stamps are as many as conversions: they are copied only for statements that may use what Postgres alone has of them. */
function needsCopy(table: DatasetTable, mentions: ViewsRequest['mentions']): boolean {
  return table.store === 'postgres' || (table.store === 'prices' && copiedNames(table).values().some(mentions));
}

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
