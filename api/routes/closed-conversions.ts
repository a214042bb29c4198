/**
 * Conversions of closed days, as ClickHouse has them: neither a block nor a stamp of these changes any more, so what it finds and
 * counts is what Postgres holds.
 */
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import type { ApiContext } from '../api-context.ts';
import type { KeyValue } from '../http/cursor.ts';
import type { Snapshot } from '../state/snapshot.ts';

/** Up to which block of a chain days are closed. */
export interface ClosedDays {
  readonly chain: string;
  readonly generation: number;
  readonly height: number;
  /** Changes when days are taken back and closed again. */
  readonly tag: string;
}

/** On rows of `conversions`. */
export interface ClosedCondition {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const CLOSED_SQL = `SELECT closed.day, closed.tick, block.height
  FROM (SELECT day, tick FROM rolled_days WHERE generation = $1 ORDER BY day DESC LIMIT 1) AS closed
  CROSS JOIN LATERAL (SELECT height FROM blocks WHERE chain = $2 AND clock < (closed.day + 1) * 86400::bigint
    ORDER BY height DESC LIMIT 1) AS block`;

interface ClosedRecord {
  readonly day: number;
  readonly tick: bigint;
  readonly height: number;
}

/** Null when no day is. */
export function closedDays(read: Snapshot, api: ApiContext, chain: string): Promise<ClosedDays | null> {
  const { generation, tag } = read.state;
  return api.memo.get(`closed days of ${chain}`, tag, async () => {
    const row = await read.row<ClosedRecord>(CLOSED_SQL, [generation, chain]);
    return row
      ? { chain, generation, height: row.height, tag: `${generation} ${row.day} ${row.tick} ${row.height}` }
      : null;
  });
}

const FROM = `FROM conversions WHERE generation = {generation: UInt32} AND chain = {chain: String}
  AND import_height <= {height: UInt32} AND status IN ('completed', 'refunded')`;

export async function countClosed(api: ApiContext, closed: ClosedDays, condition: ClosedCondition): Promise<number> {
  const { sql, params } = condition;
  const { chain, generation, height, tag } = closed;
  return api.memo.get(`closed conversions of ${chain} ${sql} ${JSON.stringify(params)}`, tag, async () => {
    const values = { ...params, generation, chain, height };
    const [row] = await api.clickhouse.query<{ count: string }>(`SELECT count() AS count ${FROM} AND ${sql}`, values);
    return Number(row?.count ?? 0);
  });
}

export interface ConversionKey {
  /** Lower-case hex. */
  readonly txid: string;
  readonly vout: number;
}

/** Newest request first; `after`: request height, txid and vout of the row before. */
export function findClosed(
  clickhouse: ClickHouse,
  { chain, generation, height }: ClosedDays,
  { sql, params }: ClosedCondition,
  after: readonly KeyValue[] | null,
  rows: number,
): Promise<ConversionKey[]> {
  const [atHeight, atTxid, atVout] = after ?? [];
  const beyond = after
    ? `AND request_height <= {atHeight: UInt32} AND (request_height < {atHeight: UInt32}
        OR txid > {atTxid: String} OR txid = {atTxid: String} AND vout > {atVout: UInt32})`
    : '';
  return clickhouse.query<ConversionKey>(
    `SELECT txid, vout ${FROM} AND ${sql} ${beyond} ORDER BY request_height DESC, txid, vout LIMIT {rows: UInt32}`,
    { ...params, generation, chain, height, rows, ...(after && { atHeight, atTxid, atVout }) },
  );
}
