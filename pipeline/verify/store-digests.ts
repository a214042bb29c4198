/**
 * Digests of the content of the stores. Each row is printed and hashed to 128 bits, and the hashes are added: the order of rows does
 * not matter, duplicate rows count, and different rows have the same digest with a probability of about 2^-128.
 */
import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { untilCancelled } from '../../infra/postgres/cancelled-statements.ts';
import { withClient } from '../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { type DigestTable, PLACE_COLUMNS, tableName } from './digest-tables.ts';

export interface Digest {
  readonly rows: number;
  readonly digest: string;
}
export type Digests = Readonly<Record<string, Digest>>;

/** Selects the rows to digest. */
export interface DigestedRows {
  readonly chain?: string;
  /** Only tables of `price` have generations. */
  readonly generation?: number;
  /** Excludes rows from later records, since there is no snapshot. Only tables of `derive` have positions. */
  readonly position?: number;
  /** Excludes rows of later ticks, which a killed price stage may have left uncommitted. */
  readonly tick?: number;
}

/** Called before each table, which may take minutes; what it throws ends the digests. */
export type BeginTable = (table: string) => void;

const readColumn = rowReader({ table: columns.text, name: columns.text });
const readDigest = rowReader({ rows: columns.text, high: columns.text, low: columns.text });

/** Excludes provisional rows, which are beyond the newest tick and do not follow from a single record. */
const IS_COMMITTED = 'AND tick <= coalesce((SELECT max(tick) FROM price_ticks), tick)';

export async function postgresDigests(
  client: Pool | PoolClient,
  tables: readonly DigestTable[],
  { chain, generation }: Pick<DigestedRows, 'chain' | 'generation'> = {},
  begin: BeginTable = () => undefined,
): Promise<Digests> {
  const digests: Record<string, Digest> = {};
  const wanted = tables.filter(({ store }) => store === 'postgres');
  const all = await readRows(
    client,
    readColumn,
    `SELECT attrelid::regclass::text AS table, attname AS name FROM pg_attribute
     WHERE attrelid = ANY($1::text[]::regclass[]) AND attnum > 0 AND NOT attisdropped`,
    [wanted.map(({ name }) => name)],
  );
  for (const table of wanted) {
    begin(tableName(table));
    const columns = columnsOf(table, all);
    const row = await readRow(
      client,
      readDigest,
      `SELECT count(*)::text AS rows, coalesce(sum(${half(1)}), 0) AS high, coalesce(sum(${half(17)}), 0) AS low
       FROM (SELECT md5(ROW(${digested(columns, chain)})::text) AS hash FROM ${table.name}
             WHERE ($1::text IS NULL OR chain = $1) ${generation === undefined ? '' : `AND generation = ${generation}`}
             ${columns.includes('tick') ? IS_COMMITTED : ''}) AS hashed`,
      [chain ?? null],
    );
    if (row) digests[tableName(table)] = digest(Number(row.rows), row.high, row.low);
  }
  return digests;
}

/** Like `postgresDigests`, on a connection of the pool; `signal` cancels the statement that runs. @throws the reason of `signal` */
export async function digestsUntil(pool: Pool, signal: AbortSignal, ...request: DigestRequest): Promise<Digests> {
  return withClient(pool, (client) => untilCancelled(pool, client, signal, () => postgresDigests(client, ...request)));
}

type DigestRequest = Parameters<typeof postgresDigests> extends [unknown, ...infer Rest] ? Rest : never;

export async function clickhouseDigests(
  clickhouse: ClickHouse,
  tables: readonly DigestTable[],
  only: DigestedRows = {},
  begin: BeginTable = () => undefined,
): Promise<Digests> {
  const digests: Record<string, Digest> = {};
  const all = await clickhouse.rows(
    readColumn,
    'SELECT table, name FROM system.columns WHERE database = currentDatabase()',
  );
  for (const table of tables.filter(({ store }) => store === 'clickhouse')) {
    begin(tableName(table));
    const columns = columnsOf(table, all);
    const conditions = [
      ...(only.chain === undefined ? [] : ['chain = {chain:String}']),
      ...(only.position === undefined ? [] : ['position <= {position:Int64}']),
      ...(only.tick === undefined ? [] : ['tick <= {tick:Int64}']),
      ...(only.generation === undefined ? [] : ['generation = {generation:UInt32}']),
    ];
    // Rows are printed first: the hash of a NULL argument is NULL, which a sum ignores.
    const [row] = await clickhouse.rows(
      readDigest,
      `SELECT toString(count()) AS rows, toString(sum(sipHash64(line))) AS high, toString(sum(cityHash64(line))) AS low
       FROM (SELECT toString(tuple(${digested(columns, only.chain)})) AS line FROM ${table.name}
             ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''})`,
      { ...only },
    );
    if (row) digests[tableName(table)] = digest(Number(row.rows), row.high, row.low);
  }
  return digests;
}

function columnsOf(table: DigestTable, all: readonly RowRead<typeof readColumn>[]): string[] {
  return all.filter((column) => column.table === table.name).map(({ name }) => name);
}

function digested(columns: readonly string[], chain: string | undefined): string {
  const left = chain === undefined ? PLACE_COLUMNS : [...PLACE_COLUMNS, 'chain'];
  const names = columns.filter((name) => !left.includes(name)).sort();
  return names.map((name) => `"${name}"`).join(', ');
}

/** SQL for 64 bits of the hash, from hex digit `from` on, as a number. */
const half = (from: number): string => `('x' || substr(hash, ${from}, 16))::bit(64)::bigint::numeric`;

function digest(rows: number, high: string, low: string): Digest {
  return { rows, digest: createHash('sha256').update(`${rows} ${high} ${low}`).digest('hex') };
}
