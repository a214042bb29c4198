/**
 * Conversions of closed days, read from ClickHouse: their blocks and stamps no longer change, so both stores give the same rows and
 * counts.
 */

import { SECONDS_PER_DAY } from '../../../domain/time.ts';
import { IS_TRADE_SQL, type TransferStatus } from '../../../domain/transfers.ts';
import { columns, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import type { PageBounds } from '../../http/list-source.ts';
import { beyondPlace, boundOf } from '../../http/page-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';

/** Statuses that ClickHouse stores. */
export const SETTLED_STATUSES = ['completed', 'refunded'] as const satisfies readonly TransferStatus[];

/** The last block of a chain that belongs to a closed day. */
interface ClosedDays {
  readonly chain: string;
  readonly generation: number;
  readonly height: number;
  /** Changes when days are reopened and closed again, after a redrive or a rewind that an operator accepted. */
  readonly tag: string;
}

/** A condition on rows of `conversions` in ClickHouse. */
export interface ClosedCondition {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Rows of the closed days that meet a condition. */
export interface ClosedConversions extends ClosedDays {
  readonly condition: ClosedCondition;
}

/** Closed days end before the newest priced block ($3), so the search starts there. */
const CLOSED_SQL = `SELECT closed.day, closed.tick, block.height, block.hash
  FROM (SELECT day, tick FROM rolled_days WHERE generation = $1 ORDER BY day DESC LIMIT 1) AS closed
  CROSS JOIN LATERAL (SELECT height, hash FROM blocks
    WHERE chain = $2 AND height <= $3 AND clock < (closed.day + 1) * ${SECONDS_PER_DAY}::bigint ORDER BY height DESC LIMIT 1) AS block`;

const readClosed = rowReader({
  day: columns.number,
  tick: columns.bigint,
  height: columns.number,
  hash: columns.text,
});

/** Returns null when no day is closed. */
export async function closedConversions(
  read: Snapshot,
  api: ApiContext,
  chain: string,
  condition: ClosedCondition,
): Promise<ClosedConversions | null> {
  const days = await closedDays(read, api, chain);
  return days && { ...days, condition };
}

function closedDays(read: Snapshot, api: ApiContext, chain: string): Promise<ClosedDays | null> {
  const { generation, redrives, priced, tag } = read.state;
  const pricedHeight = priced.get(chain)?.height ?? -1;
  return api.memo.get(`closed days of ${chain}`, tag, async () => {
    const row = await read.row(readClosed, CLOSED_SQL, [generation, chain, pricedHeight]);
    if (!row) return null;
    const { day, tick, height, hash } = row;
    return { chain, generation, height, tag: [generation, redrives, day, tick, height, hash].join(' ') };
  });
}

const CLOSED = `generation = {generation: UInt32} AND chain = {chain: String} AND import_height <= {height: UInt32}
  AND status IN ('${SETTLED_STATUSES.join("', '")}')`;
const readCount = rowReader({ count: columns.text });
/** Keys of an ordinary page are memoized; the longer key lists of pages far from the start are not. */
const MOST_REMEMBERED = 201;

export function countClosed(api: ApiContext, closed: ClosedConversions): Promise<number> {
  const { chain, generation, height, tag, condition } = closed;
  const { sql, params } = condition;
  return api.memo.get(`closed conversions of ${chain} ${sql} ${JSON.stringify(params)}`, tag, async () => {
    const statement = `SELECT count() AS count FROM conversions WHERE ${CLOSED} AND ${sql}`;
    const [row] = await api.clickhouse.rows(readCount, statement, { ...params, generation, chain, height });
    return Number(row?.count ?? 0);
  });
}

export const readSums = rowReader({
  /** UTC day of the import, in days since the epoch; null if no import has executed the conversion. */
  day: columns.nullable(columns.number),
  count: columns.text,
  /** Completed conversions that have a value. */
  valued: columns.text,
  /** USD value of the trades among them, decimal text. */
  volume: columns.text,
});
/** Part of the sums of a day; a day may have several. */
export type SumsRecord = RowRead<typeof readSums>;

const SUMS = `toInt32(toDate(time)) AS day, count() AS count, countIf(usd_value IS NOT NULL AND status = 'completed') AS valued,
  toString(sumIf(ifNull(usd_value, toDecimal256(0, 38)), ${IS_TRADE_SQL})) AS volume`;

export function sumClosed(api: ApiContext, closed: ClosedConversions): Promise<readonly SumsRecord[]> {
  const { chain, generation, height, tag, condition } = closed;
  const { sql, params } = condition;
  return api.memo.get(`sums of closed conversions of ${chain} ${sql} ${JSON.stringify(params)}`, tag, () =>
    api.clickhouse.rows(readSums, `SELECT ${SUMS} FROM conversions WHERE ${CLOSED} AND ${sql} GROUP BY day`, {
      ...params,
      generation,
      chain,
      height,
    }),
  );
}

const readKey = rowReader({
  /** Lower-case hex. */
  txid: columns.text,
  vout: columns.number,
});
export type ConversionKey = RowRead<typeof readKey>;

const PLACES = {
  integer: (name: string) => `{${name}: UInt32}`,
  hex: (name: string) => `{${name}: String}`,
  text: (name: string) => `{${name}: String}`,
  decimal: (name: string) => `toDecimal256({${name}: String}, 38)`,
} as const;

/** Keys in the order of a page. Columns of the page's key have the same names in ClickHouse. */
export function findClosed(
  api: ApiContext,
  closed: ClosedConversions,
  { key, after, rows }: Pick<PageBounds, 'key' | 'after' | 'rows'>,
): Promise<ConversionKey[]> {
  const { chain, generation, height, tag, condition } = closed;
  const { sql, params } = condition;
  const columns = key.map(({ column, order }) => ({ sql: column, order }));
  const places = key.map(({ kind }, index) => PLACES[kind](`place${index}`));
  const placed = Object.fromEntries((after ?? []).map((value, index) => [`place${index}`, value]));
  const values = { ...params, ...placed, generation, chain, height, rows };
  // PREWHERE bounds the first column, so that rows before the place are skipped without reading their keys.
  const where = after
    ? `PREWHERE ${CLOSED} AND ${sql} AND ${boundOf(columns, places)} WHERE ${beyondPlace(columns, places)}`
    : `WHERE ${CLOSED} AND ${sql}`;
  const order = columns.map((column) => `${column.sql} ${column.order}`).join(', ');
  const statement = `SELECT txid, vout FROM conversions ${where} ORDER BY ${order} LIMIT {rows: UInt32}`;
  const find = () => api.clickhouse.rows(readKey, statement, values);
  return rows > MOST_REMEMBERED
    ? find()
    : api.memo.get(`keys of closed conversions ${JSON.stringify([order, sql, values])}`, tag, find);
}
