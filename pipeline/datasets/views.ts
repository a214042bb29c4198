/** The tables of the data set as views of the currently served rows. */
import { tmpdir } from 'node:os';
import type { PoolClient } from 'pg';
import type { CsvRows } from '../../infra/clickhouse/csv-rows.ts';
import { untilCancelled } from '../../infra/postgres/cancelled-statements.ts';
import { inTransactionOf, withClient } from '../../infra/postgres/postgres.ts';
import { postgresTrouble } from '../../infra/postgres/postgres-errors.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { withOwnSignal } from '../../infra/repeat-until.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { makeScratchFolder } from '../../infra/scratch-folder.ts';
import type { Stores } from '../../infra/stores.ts';
import { isSystemError } from '../../infra/system-errors.ts';
import type { DatasetTable } from '../../schemas/datasets/table.ts';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { PermanentError, RetryableError } from '../../schemas/errors.ts';
import { withRunsKept } from '../price/ahead-runs.ts';
import { copiedRowsOf, copyOut } from './copied-rows.ts';
import { type PricedState, pricedState } from './export-state.ts';
import { copiedNames, tableSelect } from './select-day.ts';
import { createTurns } from './turns.ts';

export const viewName = ({ name }: Pick<DatasetTable, 'name'>): string => `v_${name}`;
export const VIEW_NAMES: readonly string[] = DATASET_TABLES.map(viewName);

export interface ViewsRequest {
  readonly names: ReadonlySet<string>;
  /** Whether the statement may use a column, judged by its text. */
  readonly mentions: (column: string) => boolean;
  /** Limit of the copy by Postgres, and before that of the wait. */
  readonly seconds: number;
  /** Ends the wait and the preparation of `work`. */
  readonly signal: AbortSignal;
}

/** A statement may hold a connection of each store for minutes, and the process that serves has 16 and 8. */
const MOST_AT_ONCE = 4;
const turns = createTurns(MOST_AT_ONCE);

/**
 * Calls `work` with the text that must precede a statement using the views; empty without views. Rows of Postgres are copied for it.
 * @throws RetryableError sql_busy, ScratchUnusable
 */
export async function withViews<T>(
  stores: Pick<Stores, 'postgres' | 'clickhouse'>,
  request: ViewsRequest,
  work: (views: string) => Promise<T>,
): Promise<T> {
  const { seconds, signal } = request;
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    return viewed(stores, request, work);
  };
  try {
    return await withOwnSignal(signal, seconds * 1000, (waiting) => turns(begin, waiting));
  } catch (cause) {
    if (hasBegun || signal.aborted) throw cause;
    const message = `${MOST_AT_ONCE} statements run at once, and none has ended within ${seconds} s. Try again later, or with more --seconds.`;
    throw new RetryableError('sql_busy', message, { cause });
  }
}

async function viewed<T>(
  { postgres, clickhouse }: Pick<Stores, 'postgres' | 'clickhouse'>,
  { names, mentions, seconds, signal }: ViewsRequest,
  work: (views: string) => Promise<T>,
): Promise<T> {
  const tables = DATASET_TABLES.filter((table) => names.has(viewName(table)));
  if (tables.length === 0) return work('');
  const folder = await makeScratchFolder('sql').catch(unwritten);
  const snapshot = async (client: PoolClient) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await client.query(`SET LOCAL statement_timeout = ${seconds * 1000}`);
    const state = { condition: await committed(client), priced: await pricedState(client) };
    const files: CsvRows[] = [];
    const copied = new Map<DatasetTable, number>();
    for (const table of tables) {
      const rows = needsCopy(table, mentions) ? copiedRowsOf(table, null, state.priced) : null;
      if (!rows) continue;
      const copy = () => copyOut(client, rows, folder.path).catch(unwritten);
      copied.set(table, files.push(await untilCancelled(postgres.pool, client, signal, copy)) - 1);
    }
    return { ...state, files, copied };
  };
  const read = ({ condition, priced, files, copied }: Awaited<ReturnType<typeof snapshot>>) =>
    clickhouse.withCsv(
      files,
      (sources) => {
        const sourceOf = (table: DatasetTable) => sources[copied.get(table) ?? -1] ?? null;
        return work(`WITH ${tables.map((table) => viewSql(table, condition, priced, sourceOf(table))).join(',\n')}\n`);
      },
      signal,
    );
  try {
    const seen = (client: PoolClient) => inTransactionOf(client, snapshot);
    if (!tables.some(({ store }) => store === 'prices')) return await read(await withClient(postgres.pool, seen));
    // The copy by Postgres may take minutes, after which the statement names runs that it saw before.
    return await withRunsKept(postgres.pool, async (client) => read(await seen(client)));
  } finally {
    await folder.remove();
  }
}

class ScratchUnusable extends PermanentError {
  constructor(cause: Error) {
    super(
      'scratch_unusable',
      `Rows for the statement cannot be written into ${tmpdir()}: ${cause.message}. Free space, make it writable, or set TMPDIR.`,
      { cause },
    );
  }
}

/** A lost connection to Postgres is a system error too, but not of the scratch folder. */
function unwritten(error: unknown): never {
  throw isSystemError(error) && !postgresTrouble(error) ? new ScratchUnusable(error) : error;
}

const viewSql = (
  table: DatasetTable,
  condition: (height: string) => string,
  priced: PricedState,
  copied: string | null,
): string => `${viewName(table)} AS (${tableSelect(table, { condition, priced, copied })})`;

/** There are as many stamps as conversions: they are copied only for statements that may use the columns that only Postgres has. */
function needsCopy(table: DatasetTable, mentions: ViewsRequest['mentions']): boolean {
  return table.store === 'postgres' || (table.store === 'prices' && copiedNames(table).values().some(mentions));
}

const readPlace = rowReader({ chain: columns.text, height: columns.number });

/** Condition for committed rows: ClickHouse may be a batch ahead of the commit. A chain's name has no quote. */
async function committed(client: PoolClient): Promise<(height: string) => string> {
  const rows = await readRows(
    client,
    readPlace,
    `SELECT chain, height FROM ${positionsOf('derive')} AS p ORDER BY chain`,
  );
  if (rows.length === 0) return () => 'false';
  return (column) => rows.map(({ chain, height }) => `chain = '${chain}' AND ${column} <= ${height}`).join(' OR ');
}
