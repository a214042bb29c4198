/** `sql`: runs one bounded SELECT in ClickHouse over the views of the data set. docs/decisions/0091-sql.md */

import { csvCell } from '../api/http/csv.ts';
import { ClickHouseDamaged } from '../infra/clickhouse/clickhouse-errors.ts';
import { postgresTrouble } from '../infra/postgres/postgres-errors.ts';
import { VIEW_NAMES, withViews } from '../pipeline/datasets/views.ts';
import { PermanentError, RetryableError, UsageError } from '../schemas/errors.ts';
import type { CommandOutcome, Output, StoreContext } from './command.ts';
import type { InputOf } from './command-table.ts';
import { checkSources, cteNames } from './sql-sources.ts';
import { checkedStatement, mentionsOf, viewNames, windowsIn } from './sql-text.ts';

type Row = Readonly<Record<string, unknown>>;

const DEFAULT_ROWS = 10_000;
const MOST_ROWS = 1_000_000;
const DEFAULT_SECONDS = 60;
const MOST_SECONDS = 600;
const MEMORY_BYTES = 2 ** 30;
/** grace_hash, because a join of millions of conversions with their generations exceeds that memory; hash for ASOF joins. */
const JOINS = "SETTINGS join_algorithm = 'grace_hash,hash'";
/** A larger side of a join is spilled to disk. */
const JOINED_IN_MEMORY_BYTES = 2 ** 27;
const SORTED_IN_MEMORY_BYTES = 2 ** 28;
const ANSWER_BYTES = 2 ** 28;

/** @throws UsageError, PermanentError sql_failed, sql_stopped, RetryableError sql_busy */
export async function run(
  { stores, signal }: Pick<StoreContext, 'stores' | 'signal'>,
  { statement, format = 'csv', rows: most, seconds: longest }: InputOf<'sql'>,
  { write, progress }: Output,
): Promise<CommandOutcome> {
  const rowLimit = numberOf('--rows', most, DEFAULT_ROWS, MOST_ROWS);
  const seconds = numberOf('--seconds', longest, DEFAULT_SECONDS, MOST_SECONDS);
  const textsOf = FORMATS[format];
  if (!textsOf) throw new UsageError(`there is no format "${format}"; allowed are ${Object.keys(FORMATS).join(', ')}`);
  const sql = checkedStatement(statement);
  const names = viewNames(sql);
  await checkTree(stores, sql);
  const found = await withViews(stores, { names, mentions: mentionsOf(sql), seconds, signal }, (views) => {
    const asked = `${views}SELECT * FROM (\n${sql}\n) LIMIT ${rowLimit + 1} ${JOINS}`;
    return stores.clickhouse.query(asked, undefined, boundsOf(seconds), signal).catch(refused);
  }).catch((error: unknown) => {
    if (signal.aborted) throw new PermanentError('sql_stopped', 'The statement was stopped.', { cause: error });
    throw postgresTrouble(error) ?? error;
  });
  const rows = found.slice(0, rowLimit);
  const isCut = found.length > rowLimit;
  await write(textsOf(rows));
  if (isCut) progress(`These are the first ${rowLimit} rows; --rows takes up to ${MOST_ROWS}.`);
  return { exitCode: 0, state: { rows, isCut } };
}

/** Checks by ClickHouse's own parser what the statement reads. */
async function checkTree({ clickhouse }: StoreContext['stores'], statement: string): Promise<void> {
  const ctes = cteNames(statement);
  const tables = await clickhouse.query('SELECT name FROM system.tables WHERE database = currentDatabase()');
  const [hidden] = tables.map(({ name }) => String(name)).filter((name) => ctes.has(name));
  if (hidden !== undefined) throw new UsageError(`"${hidden}" is a table of the service: choose another name in WITH`);
  // The tree shows the windows that a WINDOW clause defines but not those after OVER, so check these as a WINDOW clause.
  const windows = windowsIn(statement).map((window, index) => `w${index} AS (${window})`);
  for (const text of [statement, ...(windows.length > 0 ? [`SELECT 1 WINDOW ${windows.join(', ')}`] : [])]) {
    const rows = await clickhouse.query(`SELECT explain FROM (EXPLAIN AST\n${text}\n)`).catch(refused);
    const lines = rows.map(({ explain }) => String(explain));
    checkSources(lines, { views: new Set(VIEW_NAMES), ctes });
  }
}

const boundsOf = (seconds: number) => ({
  max_execution_time: seconds,
  max_memory_usage: MEMORY_BYTES,
  max_result_bytes: ANSWER_BYTES,
  max_threads: 1,
  max_bytes_in_join: JOINED_IN_MEMORY_BYTES,
  max_bytes_before_external_sort: SORTED_IN_MEMORY_BYTES,
  join_use_nulls: 1,
  prefer_column_name_to_alias: 1,
  // Keeps the ORDER BY of the statement, which is a subquery of the command's own statement.
  query_plan_remove_redundant_sorting: 0,
});

function refused(error: unknown): never {
  if (error instanceof RetryableError || !(error instanceof Error)) throw error;
  // A function that rejects its arguments may use the error codes of damaged files.
  const said = error instanceof ClickHouseDamaged && error.cause instanceof Error ? error.cause : error;
  throw new PermanentError('sql_failed', `ClickHouse refused the statement: ${said.message.split('\n')[0]}`, {
    cause: error,
  });
}

function numberOf(name: string, given: string | undefined, none: number, most: number): number {
  if (given === undefined) return none;
  if (/^[1-9]\d{0,8}$/.test(given) && Number(given) <= most) return Number(given);
  throw new UsageError(`"${given}" is not a value of ${name}; allowed is a whole number from 1 to ${most}`);
}

/** Yield lines, or empty texts while none is ready, so that the process can do other work. */
const FORMATS: Readonly<Record<string, (rows: readonly Row[]) => Iterable<string>>> = {
  *csv(rows) {
    const [first] = rows;
    if (first) yield `${Object.keys(first).map(csvCell).join(',')}\n`;
    for (const row of rows) yield `${Object.values(row).map(csvCell).join(',')}\n`;
  },
  *ndjson(rows) {
    for (const row of rows) yield `${JSON.stringify(row)}\n`;
  },
  *table(rows) {
    const [first] = rows;
    if (!first) return;
    const names = Object.keys(first);
    const widths = names.map((name) => name.length);
    for (const row of rows) {
      for (const [index, name] of names.entries())
        widths[index] = Math.max(widths[index] ?? 0, plainText(row[name]).length);
      yield '';
    }
    // One long cell widens every row.
    if ((rows.length + 1) * widths.reduce((sum, width) => sum + width + 2, 0) > ANSWER_BYTES)
      throw new UsageError('as a table the answer is larger than 256 MiB; choose csv or ndjson');
    const line = (cells: readonly string[]) =>
      `${cells
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd()}\n`;
    yield line(names);
    for (const row of rows) yield line(names.map((name) => plainText(row[name])));
  },
};

const plainText = (value: unknown): string =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
