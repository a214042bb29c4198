/** The interface of a snapshot whose statements each read the pool directly. */
import type { Snapshot } from '../../../api/state/snapshot.ts';
import type { Postgres } from '../../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../../infra/postgres/read-rows.ts';

export function poolRows({ pool }: Pick<Postgres, 'pool'>): Pick<Snapshot, 'rows' | 'row'> {
  return {
    rows: (reader, sql, values) => readRows(pool, reader, sql, values),
    row: (reader, sql, values) => readRow(pool, reader, sql, values),
  };
}
