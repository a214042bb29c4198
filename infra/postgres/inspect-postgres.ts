/** Inspects a Postgres by URL over one connection, without changing anything. */
import type { Logger } from '../logger.ts';
import { columns, type RowOf, rowReader } from '../row-reader.ts';
import { openPool } from './pool.ts';
import { connectError } from './postgres.ts';
import { postgresTrouble } from './postgres-errors.ts';
import { readRow } from './read-rows.ts';
import { leftScratchNames } from './scratch-names.ts';

const REPORT = {
  /** The server's own text, such as `18.4`. */
  version: columns.text,
  major: columns.number,
  readOnly: columns.boolean,
  /** Whether the role may create tables and schemas in this database. */
  mayCreate: columns.boolean,
  /** Whether the role may create databases: `verify` and `reprocess` build some next to the served one. */
  mayCreateDatabases: columns.boolean,
  /** Connections that are not in use. */
  freeConnections: columns.number,
};
const readReport = rowReader({ ...REPORT, now: columns.number });

export interface PostgresReport extends RowOf<typeof REPORT> {
  /** Least number of milliseconds by which the server's clock is ahead of this machine's; negative if it is behind. */
  readonly clockAheadMs: number;
  /** Databases that a killed `verify` left behind. */
  readonly left: readonly string[];
}

const TIMEOUT_MS = 10_000;
const SQL = `SELECT current_setting('server_version') AS version,
    current_setting('server_version_num')::int / 10000 AS major,
    current_setting('transaction_read_only')::boolean AS "readOnly",
    has_database_privilege(current_database(), 'CREATE') AS "mayCreate",
    (SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user) AS "mayCreateDatabases",
    current_setting('max_connections')::int - (SELECT count(*)::int FROM pg_stat_activity) AS "freeConnections",
    extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`;

/** @throws PostgresRefused, PostgresTrouble */
export async function inspectPostgres(url: string, logger: Logger): Promise<PostgresReport> {
  const config = {
    connectionString: url,
    max: 1,
    application_name: 'verustream-check',
  };
  const pool = openPool(config, logger, { connectMs: TIMEOUT_MS, statementMs: TIMEOUT_MS });
  try {
    await pool.query('SELECT 1'); // connects first, so that the comparison of clocks does not include it
    const before = Date.now();
    const row = await readRow(pool, readReport, SQL);
    if (!row) throw new Error('Postgres answered without a row');
    const { now, ...report } = row;
    const clockAheadMs = beyond(now, before, Date.now());
    return { ...report, clockAheadMs, left: await leftScratchNames(pool) };
  } catch (error) {
    const trouble = postgresTrouble(error);
    throw trouble && trouble.code !== 'postgres_unreachable' ? trouble : connectError(error, url);
  } finally {
    await pool.end();
  }
}

/** Returns how far `time` is outside the span in which it was read; 0 inside. */
export function beyond(time: number, from: number, to: number): number {
  if (time < from) return time - from;
  return Math.max(0, time - to);
}
