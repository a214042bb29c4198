/** Names of scratch databases next to the served one. A name is locked while it is in use, so that leftovers of killed processes can be found. */
import { randomBytes } from 'node:crypto';
import type { Closers } from '../open-together.ts';
import { columns, rowReader } from '../row-reader.ts';
import type { Postgres } from './postgres.ts';
import { type Queryable, readRow, readRows } from './read-rows.ts';

export const SCRATCH_PREFIX = 'verustream_beside_';
/** SQL of the prefix of this installation: another one on the same server may have another ClickHouse, which only it can clean up. */
const OWN_PREFIX = `'${SCRATCH_PREFIX}' || left(md5(current_database()), 8) || '_'`;

const readPrefix = rowReader({ prefix: columns.text });

/** Returns a new name, whose lock is held until the closers have run. */
export async function claimScratchName(postgres: Postgres, closers: Closers): Promise<string> {
  const own = await readRow(postgres.pool, readPrefix, `SELECT ${OWN_PREFIX} AS prefix`);
  const name = `${own?.prefix}${randomBytes(6).toString('hex')}`;
  const session = postgres.openPool({ max: 1, idleTimeoutMillis: 0 });
  closers.push(() => session.end());
  const holder = await session.connect();
  closers.push(() => holder.release(true));
  // The server may be configured to end idle sessions.
  const sql = `SELECT set_config('idle_session_timeout', '0', false), pg_advisory_lock(hashtextextended($1, 0))`;
  await holder.query(sql, [name]);
  return name;
}

const readName = rowReader({ name: columns.text });

/**
 * Returns the scratch databases of this installation (and of versions whose names did not tell) that no process uses: no session of the
 * server holds the lock, and none is connected (a process that has lost its lock may still be connected).
 */
export async function leftScratchNames(source: Queryable): Promise<string[]> {
  const sql = `SELECT datname AS name FROM pg_database
    WHERE (starts_with(datname, ${OWN_PREFIX}) OR datname ~ '^${SCRATCH_PREFIX}[0-9a-f]{12}$')
      AND pg_has_role(datdba, 'USAGE')
      AND NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND (classid::bigint << 32 | objid::bigint) = hashtextextended(datname, 0))
      AND NOT EXISTS (SELECT FROM pg_stat_activity activity
        WHERE activity.datname = pg_database.datname AND backend_type IS DISTINCT FROM 'autovacuum worker')
    ORDER BY datname`;
  return (await readRows(source, readName, sql)).map(({ name }) => name);
}
