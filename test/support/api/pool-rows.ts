/** The rows of a snapshot, each statement read from a pool as it comes. */
import type { Snapshot } from '../../../api/state/snapshot.ts';
import type { StoredRow } from '../../../infra/postgres/fact-columns.ts';
import type { Postgres } from '../../../infra/postgres/postgres.ts';

export function poolRows({ pool }: Pick<Postgres, 'pool'>): Pick<Snapshot, 'rows' | 'row'> {
  const rows: Snapshot['rows'] = async (reader, sql, values = []) =>
    (await pool.query<StoredRow>(sql, [...values])).rows.map(reader);
  return { rows, row: async (...asked) => (await rows(...asked))[0] };
}
