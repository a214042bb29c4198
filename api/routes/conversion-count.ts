/** How many conversions a filter shows. */
import type { ApiContext } from '../api-context.ts';
import { countRows, countRowsByHeight } from '../http/count-rows.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { ConversionFilter } from './conversion-filters.ts';

/**
 * By what was asked for they are counted piece by piece, since that does not change. By what became of them ClickHouse counts
 * those of days that are closed, and Postgres the others.
 */
export async function countConversions(
  read: Snapshot,
  api: ApiContext,
  chain: string,
  { values, conditions, isOfRequest, arms, inClickHouse }: ConversionFilter,
): Promise<number> {
  const whole = (rows: string, more: readonly unknown[] = []) =>
    countRows(read, api, null, { rows, values: [...values, ...more], isOpenEnded: true });
  if (!arms) {
    const rows = `transfers t WHERE ${conditions}`;
    if (!isOfRequest) return whole(rows);
    return countRowsByHeight(read, api, chain, 't.request_height', { rows, values, isOpenEnded: true });
  }
  const elsewhere = await whole(`(${arms.elsewhere}) AS elsewhere`);
  const closed = inClickHouse && (await closedUpTo(read, api, chain));
  if (!closed) return elsewhere + (await whole(`(${arms.here}) AS here`));
  // A settled transfer is not changed any more by a later block, so its version begins at the import.
  const above = `(${arms.here} AND t.from_height > $${values.length + 1}) AS here`;
  const key = `${inClickHouse.conditions} ${JSON.stringify(inClickHouse.params)} ${chain}`;
  const below = await api.memo.get(`closed ${key}`, `${read.state.generation} ${JSON.stringify(closed)}`, async () => {
    const [row] = await api.clickhouse.query<{ count: string }>(
      `SELECT count() AS count FROM conversions WHERE generation = {generation: UInt32} AND chain = {chain: String}
         AND import_height <= {height: UInt32} AND ${inClickHouse.conditions}`,
      { ...inClickHouse.params, generation: read.state.generation, chain, height: closed.height },
    );
    return Number(row?.count ?? 0);
  });
  return elsewhere + below + (await whole(above, [closed.height]));
}

interface Closed {
  readonly day: number;
  /** Of the newest price when they were closed: tells them from the same days closed again. */
  readonly tick: string;
  readonly height: number;
}

/** No block up to there, and no stamp of it, changes any more. */
const CLOSED_SQL = `SELECT closed.day, closed.tick::text AS tick, block.height
  FROM (SELECT day, tick FROM rolled_days WHERE generation = $1 ORDER BY day DESC LIMIT 1) AS closed
  CROSS JOIN LATERAL (SELECT height FROM blocks WHERE chain = $2 AND clock < (closed.day + 1) * 86400::bigint
    ORDER BY height DESC LIMIT 1) AS block`;

function closedUpTo(read: Snapshot, api: ApiContext, chain: string): Promise<Closed | null> {
  return api.memo.get(`closed up to ${chain}`, read.state.tag, async () => {
    return (await read.row<Closed>(CLOSED_SQL, [read.state.generation, chain])) ?? null;
  });
}
