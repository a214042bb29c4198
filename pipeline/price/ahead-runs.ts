/**
 * Rows beyond the complete line in ClickHouse, which has no transactions: rows are only ever added, each append as a separate run, and
 * the commit of Postgres decides which runs count and between which ticks. docs/decisions/0037-volumes-beyond-the-line.md
 */
import type { Pool, PoolClient } from 'pg';
import { allEnded } from '../../infra/all-ended.ts';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import type { CsvValue } from '../../infra/clickhouse/csv.ts';
import { withClient } from '../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { columns, type RowReader, rowReader } from '../../infra/row-reader.ts';
import { type AheadRun, aheadRowsSql } from '../../schemas/ahead-runs.ts';
import type { AheadDrop, AheadRows } from './ahead-change.ts';
import { CLICKHOUSE_CONVERSIONS_AHEAD, CLICKHOUSE_PRICES_AHEAD, type ClickHousePriceTable } from './price-rows.ts';

/** Rows that one generation adds. */
export type AddedRows = Omit<AheadRows, 'publishedTicks'>;

interface StoredRun extends AheadRun {
  readonly size: bigint;
}

const readRun = rowReader({ run: columns.bigint });
const readFree = rowReader({ free: columns.boolean });
/** Row of ClickHouse. */
const readUnknown = rowReader({ run: columns.text });
const readStoredRun: RowReader<StoredRun> = rowReader({
  run: columns.bigint,
  fromTick: columns.bigint,
  throughTick: columns.bigint,
  size: columns.bigint,
  corrects: columns.boolean,
});

const TABLES = [CLICKHOUSE_PRICES_AHEAD, CLICKHOUSE_CONVERSIONS_AHEAD] as const;
/** A reader names every run that counts in each statement; beyond this many the small ones are merged. */
const MOST_RUNS = 8;
/** The statements of a response take at most 10 s, and a request that waits longer for its turn has been given up. */
const GRACE = '2 minutes';
const READ_LOCK = `hashtextextended('verustream:ahead_runs:read', 0)`;

/** Writes rows that count with the commit. Their ticks, except those of corrections, come after those of all rows that count. */
export async function appendRun(
  client: PoolClient,
  clickhouse: ClickHouse,
  added: readonly AddedRows[],
): Promise<void> {
  const span = spanOf(added);
  if (span === null) return;
  const run = await nextRun(client);
  await allEnded([
    insert(clickhouse, CLICKHOUSE_PRICES_AHEAD, run, added, ({ prices }) => prices),
    insert(clickhouse, CLICKHOUSE_CONVERSIONS_AHEAD, run, added, ({ stamps, corrections }) => [
      ...corrections,
      ...stamps,
    ]),
  ]);
  await addRun(client, { run, ...span, corrects: added.some(({ corrections }) => corrections.length > 0) });
  await mergeSmallRuns(client, clickhouse);
}

/** Makes rows outside the ticks that stay no longer count. */
export async function dropFromRuns(client: PoolClient, { keepThrough, passed }: AheadDrop): Promise<void> {
  await client.query(
    `UPDATE ahead_runs SET from_tick = greatest(from_tick, $1::bigint), through_tick = least(through_tick, $2::bigint),
       counts = greatest(from_tick, $1::bigint) <= least(through_tick, $2::bigint)
     WHERE counts AND (from_tick < $1::bigint OR through_tick > $2::bigint)`,
    [passed, keepThrough],
  );
}

/** Makes no row count any more. */
export async function clearRuns(client: PoolClient): Promise<void> {
  await client.query('UPDATE ahead_runs SET counts = false WHERE counts');
}

/**
 * Frees runs that have not counted for so long that no reader needs them. Call it first in a transaction: the runs that it finds not to
 * count were then committed before, however long that transaction was.
 */
export async function pruneRuns(client: PoolClient, clickhouse: ClickHouse): Promise<void> {
  const due = await readRows(
    client,
    readRun,
    `SELECT run FROM ahead_runs WHERE unseen_since < now() - interval '${GRACE}'`,
  );
  if (due.length > 0 && (await isUnread(client))) {
    for (const { name } of TABLES) await dropRuns(clickhouse, name, due);
    await client.query('DELETE FROM ahead_runs WHERE run = ANY($1::bigint[])', [due.map(({ run }) => String(run))]);
  }
  await client.query('UPDATE ahead_runs SET unseen_since = now() WHERE NOT counts AND unseen_since IS NULL');
}

/** Releases the lock at once: later readers see that the due runs no longer count, and need not wait for the caller. */
async function isUnread(client: PoolClient): Promise<boolean> {
  const sql = `SELECT CASE WHEN pg_try_advisory_lock(${READ_LOCK}) THEN pg_advisory_unlock(${READ_LOCK}) ELSE false END AS free`;
  return (await readRow(client, readFree, sql))?.free === true;
}

/**
 * For readers that take longer than a response: no run is freed that counts in a snapshot of Postgres within `work`. `work` gets the
 * connection that holds the lock, so that it needs no other; when it rejects, the connection is closed.
 */
export async function withRunsKept<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return withClient(pool, async (client) => {
    await client.query(`SELECT pg_advisory_lock_shared(${READ_LOCK})`); // released when the session ends
    const done = await work(client);
    await client.query(`SELECT pg_advisory_unlock_shared(${READ_LOCK})`);
    return done;
  });
}

/** Frees rows that were written but never committed. Call it before anything is appended. */
export async function dropUnknownRuns(client: PoolClient, clickhouse: ClickHouse): Promise<void> {
  const known = (await readRows(client, readRun, 'SELECT run FROM ahead_runs')).map(({ run }) => run);
  for (const { name } of TABLES) {
    const unknown = await clickhouse.rows(
      readUnknown,
      `SELECT DISTINCT run FROM ${name} WHERE NOT has({known:Array(UInt64)}, run)`,
      { known },
    );
    await dropRuns(clickhouse, name, unknown);
  }
}

async function dropRuns(
  clickhouse: ClickHouse,
  table: string,
  runs: readonly { readonly run: bigint | string }[],
): Promise<void> {
  if (runs.length === 0) return;
  await clickhouse.command(`ALTER TABLE ${table} ${runs.map(({ run }) => `DROP PARTITION ${run}`).join(', ')}`);
}

async function nextRun(client: PoolClient): Promise<bigint> {
  const row = await readRow(client, readRun, "SELECT nextval('ahead_run_numbers') AS run");
  if (!row) throw new TypeError('a sequence returned no number');
  return row.run;
}

async function addRun(client: PoolClient, { run, fromTick, throughTick, size, corrects }: StoredRun): Promise<void> {
  await client.query(
    'INSERT INTO ahead_runs (run, from_tick, through_tick, size, corrects) VALUES ($1, $2, $3, $4, $5)',
    [...[run, fromTick, throughTick, size].map(String), corrects],
  );
}

/** Returns null when there are no rows. */
function spanOf(added: readonly AddedRows[]): Pick<StoredRun, 'fromTick' | 'throughTick' | 'size'> | null {
  let [first, last, size] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (const { prices, stamps, corrections } of added) {
    for (const rows of [prices, stamps, corrections]) {
      for (const { tick } of rows) [first, last] = [Math.min(first, tick), Math.max(last, tick)];
      size += rows.length;
    }
  }
  return size === 0 ? null : { fromTick: BigInt(first), throughTick: BigInt(last), size: BigInt(size) };
}

function insert<Row>(
  clickhouse: ClickHouse,
  { name, columns, values }: ClickHousePriceTable<Row>,
  run: bigint,
  added: readonly AddedRows[],
  rowsOf: (added: AddedRows) => readonly Row[],
): Promise<void> {
  function* rows(): Generator<readonly CsvValue[]> {
    for (const part of added) for (const row of rowsOf(part)) yield [run, part.generation, ...values(row)];
  }
  return clickhouse.insert(name, ['run', 'generation', ...columns], rows());
}

/** Merges the newest runs, and older ones as long as they at most triple the rows to write. */
async function mergeSmallRuns(client: PoolClient, clickhouse: ClickHouse): Promise<void> {
  const runs = await readRows(
    client,
    readStoredRun,
    `SELECT run, from_tick AS "fromTick", through_tick AS "throughTick", size, corrects FROM ahead_runs
     WHERE counts ORDER BY run`,
  );
  if (runs.length <= MOST_RUNS) return;
  const merged = smallOnes(runs);
  const run = await nextRun(client);
  for (const { name, columns } of TABLES) {
    const kept = ['generation', ...columns].join(', ');
    await clickhouse.command(
      `INSERT INTO ${name} (run, ${kept}) SELECT ${run}, ${kept} FROM ${aheadRowsSql(name, merged)}`,
    );
  }
  await client.query(
    `WITH merged AS (UPDATE ahead_runs SET counts = false WHERE run = ANY($2::bigint[]) RETURNING *)
     INSERT INTO ahead_runs (run, from_tick, through_tick, size, corrects)
     SELECT $1, min(from_tick), max(through_tick), sum(size), bool_or(corrects) FROM merged`,
    [String(run), merged.map((one) => String(one.run))],
  );
}

/** Returns at least the last two runs. Each row is then rewritten about as often as its distance from the end has doubled. */
function smallOnes(runs: readonly StoredRun[]): readonly StoredRun[] {
  let first = runs.length - 1;
  let size = runs[first]?.size ?? 0n;
  for (let older = runs[first - 1]; older; older = runs[first - 1]) {
    if (first < runs.length - 1 && older.size > 2n * size) break;
    size += older.size;
    first--;
  }
  return runs.slice(first);
}
