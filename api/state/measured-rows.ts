/** Reads rows of unbounded number and size: Postgres counts and measures them, and sends no more than an answer may contain. */

import { columns, type RowReader, rowReader } from '../../infra/row-reader.ts';
import type { Snapshot } from './snapshot.ts';

/** The maximum number of heights in one call of a daemon. */
export const MOST_ROWS = 2_000;
/** Also the largest answer of a daemon that is cached. */
export const MOST_BYTES = 4 * 1024 * 1024;
export const ALLOWED = `${MOST_ROWS} updates or ${MOST_BYTES} bytes of them`;

export interface MeasuredSource {
  /** The columns of the `SELECT`. */
  readonly columns: string;
  /** SQL for the length of the part that makes the answer large. */
  readonly bytes: string;
  /** SQL from `FROM` to the end of the `WHERE` clause. */
  readonly from: string;
  /** SQL of a unique key of the rows. */
  readonly order: string;
  readonly values: readonly unknown[];
}

const readMeasure = rowReader({ bytes_before: columns.bigint, bytes: columns.number });

/** Returns null when the rows are more than an answer may contain; a single row is never too large. */
export async function measuredRows<Row>(
  read: Pick<Snapshot, 'rows'>,
  reader: RowReader<Row>,
  { columns: selected, bytes, from, order, values }: MeasuredSource,
): Promise<Row[] | null> {
  // The second row is always included, to distinguish one large row from several rows.
  const sql = `SELECT * FROM (SELECT ${selected}, ${bytes} AS bytes, row_number() OVER so_far AS place,
      coalesce(sum(${bytes}) OVER (so_far ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
    ${from} WINDOW so_far AS (ORDER BY ${order}) ORDER BY ${order} LIMIT ${MOST_ROWS + 1}) AS measured
    WHERE bytes_before <= ${MOST_BYTES} OR place = 2`;
  const rows = await read.rows((row) => ({ row: reader(row), ...readMeasure(row) }), sql, values);
  const last = rows.at(-1);
  if (last === undefined) return [];
  const isTooLarge = Number(last.bytes_before) + last.bytes > MOST_BYTES && rows.length > 1;
  return isTooLarge || rows.length > MOST_ROWS ? null : rows.map(({ row }) => row);
}
