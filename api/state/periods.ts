/** UTC days and months of a chain, each with its last block, so that values at the end of a period can be read by height. */
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import type { ApiContext } from '../api-context.ts';
import type { Snapshot } from './snapshot.ts';

const readPeriod = rowReader({
  /** Seconds since the epoch. */
  start: columns.number,
  /** Height of the period's last block so far. */
  height: columns.number,
});
export type Period = RowRead<typeof readPeriod>;

/** Periods are by clock, which never goes back: the blocks of a period are consecutive. */
const START_OF = { day: 'toStartOfDay(clock)', month: "toDateTime(toStartOfMonth(clock), 'UTC')" } as const;

/** Returns the periods that have a block, oldest first. */
export function periodsOf(
  read: Snapshot,
  api: ApiContext,
  chain: string,
  unit: keyof typeof START_OF,
): Promise<readonly Period[]> {
  return api.memo.get(`${unit}s of ${chain}`, read.state.factsTag(chain), () =>
    api.clickhouse.rows(
      readPeriod,
      `SELECT toUnixTimestamp(${START_OF[unit]}) AS start, max(height) AS height FROM blocks
       WHERE chain = {chain: String} AND position <= {position: UInt64} GROUP BY start ORDER BY start`,
      { chain, position: read.state.derived.get(chain)?.position ?? 0 },
    ),
  );
}
