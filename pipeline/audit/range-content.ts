/** The content of each store in a range of heights, by table: the number of rows, and the sum of 60 bits of each row's MD5. */
import type { PoolClient } from 'pg';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { columns, jsonReader, type RowOf, rowReader } from '../../infra/row-reader.ts';
import type { AuditedTable } from './audited-tables.ts';
import type { AuditedChain, AuditLedger, Committed } from './ledger.ts';

export interface Range {
  readonly chain: AuditedChain;
  readonly low: number;
  readonly high: number;
  readonly committed: Committed;
}

const CONTENT = { rows: columns.text, digest: columns.text };
const TABLE = { ...CONTENT, table: columns.text };
const readTable = rowReader(TABLE);
const readTotals = jsonReader(columns.list(columns.object(TABLE)));
const readHeight = rowReader({ ...CONTENT, height: columns.number });
const readContents = rowReader({
  contents: columns.nullable(columns.text),
  strayed: columns.nullable(columns.number),
});
/** Changes with any lost, duplicated or changed row, but not with the order of rows. */
export type TableContent = RowOf<typeof CONTENT>;

/** Content by table; tables without rows are missing. */
export type TableContents = ReadonlyMap<string, TableContent>;

export interface PostgresContents {
  readonly contents: TableContents;
  /** First height whose kept digest differs from that of the current rows; null if there is none. */
  readonly strayed: number | null;
}

const MD5_SUM_POSTGRES = `sum(('x' || left(md5(line), 15))::bit(60)::bigint)`;
const MD5_SUM_CLICKHOUSE = `sum(toInt256(bitShiftRight(reinterpretAsUInt64(reverse(substring(MD5(line), 1, 8))), 4)))`;

/** Reads in one statement, so in one snapshot. With `keep` it also keeps the digests of the range. */
export async function postgresContents(
  client: PoolClient,
  ledger: AuditLedger,
  range: Range,
  keep: boolean,
): Promise<PostgresContents> {
  const { chain, low, high, committed } = range;
  const sql = `WITH scope AS (SELECT $4::integer, $5::bigint, $3::integer),
    content AS MATERIALIZED (
      SELECT "table", height, count(*) AS rows, ${MD5_SUM_POSTGRES} AS digest
      FROM (${ledger.tables.map(postgresLines).join(' UNION ALL ')}) AS lines GROUP BY "table", height
    ),
    heights AS (
      SELECT height, string_agg(concat_ws(' ', "table", rows, digest), ';' ORDER BY "table" COLLATE "C") AS content
      FROM content GROUP BY height
    ),
    kept AS (${ledger.kept}),
    seed AS (
      SELECT coalesce((SELECT digest FROM kept WHERE height < $2 ORDER BY height DESC LIMIT 1), '') AS digest
    ),
    chained AS MATERIALIZED (
      SELECT height, digest_chain(content, seed.digest) OVER (ORDER BY height) AS digest FROM heights, seed
    ),
    ends AS (
      SELECT height, digest FROM chained
      UNION ALL
      SELECT $3, coalesce((SELECT digest FROM chained ORDER BY height DESC LIMIT 1), seed.digest) FROM seed
      WHERE NOT EXISTS (SELECT FROM chained WHERE height = $3)
    )${keep ? `, keeping AS (${ledger.keep})` : ''}
    SELECT (SELECT json_agg(totals) FROM (
        SELECT "table", sum(rows)::text AS rows, sum(digest)::text AS digest FROM content GROUP BY "table"
      ) AS totals) AS contents,
      (SELECT min(height) FROM ends JOIN kept USING (height) WHERE ends.digest <> kept.digest) AS strayed`;
  const values = [chain.name, low, high, committed.generation, committed.tick];
  const row = await readRow(client, readContents, sql, values);
  const totals = readTotals(row?.contents ?? '[]');
  return { contents: new Map(totals.map((total) => [total.table, total])), strayed: row?.strayed ?? null };
}

export async function clickhouseContents(
  clickhouse: ClickHouse,
  ledger: AuditLedger,
  range: Range,
): Promise<TableContents> {
  const tables = ledger.tables.map(({ name, clickhouse: rows }) => {
    return `SELECT '${name}' AS table, toString(count()) AS rows, toString(${MD5_SUM_CLICKHOUSE}) AS digest
      FROM (SELECT ${rows.line} AS line ${rows.from}) HAVING count() > 0`;
  });
  const totals = await clickhouse.rows(readTable, tables.join(' UNION ALL '), parameters(range));
  return new Map(totals.map((total) => [total.table, total]));
}

/** Returns the first height at which a table differs between the stores, or null. */
export async function firstDifference(
  client: PoolClient,
  clickhouse: ClickHouse,
  table: AuditedTable,
  range: Range,
): Promise<number | null> {
  const { chain, low, high, committed } = range;
  const rows = await readRows(
    client,
    readHeight,
    `WITH scope AS (SELECT $4::integer)
     SELECT height, count(*)::text AS rows, ${MD5_SUM_POSTGRES}::text AS digest
     FROM (${postgresLines(table)}) AS lines GROUP BY height`,
    [chain.name, low, high, committed.generation],
  );
  const others = await clickhouse.rows(
    readHeight,
    `SELECT toInt32(height) AS height, toString(count()) AS rows, toString(${MD5_SUM_CLICKHOUSE}) AS digest
     FROM (SELECT ${table.clickhouse.height} AS height, ${table.clickhouse.line} AS line ${table.clickhouse.from})
     GROUP BY height`,
    parameters(range),
  );
  const ours = new Map(rows.map((row) => [row.height, row]));
  const theirs = new Map(others.map((row) => [row.height, row]));
  const heights = [...new Set([...ours.keys(), ...theirs.keys()])].sort((a, b) => a - b);
  return heights.find((height) => !isSame(ours.get(height), theirs.get(height))) ?? null;
}

export function isSame(one: TableContent | undefined, other: TableContent | undefined): boolean {
  return one?.rows === other?.rows && one?.digest === other?.digest;
}

function postgresLines({ name, postgres: { height, line, from } }: AuditedTable): string {
  return `SELECT '${name}' AS "table", ${height} AS height, ${line} AS line ${from}`;
}

function parameters({ chain, low, high, committed }: Range): Record<string, unknown> {
  return {
    chain: chain.name,
    native: chain.nativeCurrencyId,
    low,
    high,
    generation: committed.generation,
    tick: committed.tick.toString(),
  };
}
