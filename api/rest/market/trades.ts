/** Trade volume: sums over the settled conversions that are trades, by block time. */

import { SECONDS_PER_DAY } from '../../../domain/time.ts';
import { IS_TRADE_SQL } from '../../../domain/transfers.ts';
import { columns, type RowOf, type RowReader, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import { parseUsd, type Usd } from '../../http/usd.ts';
import type { PricedRows } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';

export interface Volume {
  readonly volume: Usd;
  readonly trades: number;
}

export const NO_VOLUME: Volume = { volume: 0n, trades: 0 };

/** Seconds since the epoch, the same for all chains or by chain. */
export type Since = number | ReadonlyMap<string, number>;

export interface Trades {
  /** The newest block's time, seconds: end of every window over all chains. */
  readonly end: number;
  /** Time of each chain's newest block: the end of windows over that chain, even while the chain stands still. */
  readonly ends: ReadonlyMap<string, number>;
  /** Sum over all trades since a moment. */
  total(since: Since): Promise<Volume>;
  byBasket(since: Since): Promise<ReadonlyMap<string, Volume>>;
  /** A trade counts for each of its sides. */
  byCurrency(since: Since): Promise<ReadonlyMap<string, Volume>>;
  /** By the first second of each day, week (from Monday) or month. */
  byPeriod(unit: Unit, since: Since, basketId: string | null): Promise<ReadonlyMap<number, Volume>>;
  bySides(since: Since): Promise<readonly SideVolume[]>;
  /** Also grouped by UTC day; for one basket, or for all if `basketId` is null. */
  bySidesAndDay(since: Since, basketId: string | null): Promise<readonly (SideVolume & { readonly day: number })[]>;
}

export type Unit = 'day' | 'week' | 'month';

export interface SideVolume extends Volume {
  readonly basketId: string;
  readonly fromId: string;
  readonly toId: string;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

const OF_ALL = '{since: UInt32}';
const BY_CHAIN = 'transform(toString(chain), {chains: Array(String)}, {sinces: Array(UInt32)}, {since: UInt32})';

/** Reads rolled-up whole days from `daily_trades`, and single rows of all other days. Rows beyond the line are in no rollup. */
function tradesSql(rows: PricedRows, since: Since): string {
  const start = typeof since === 'number' ? OF_ALL : BY_CHAIN;
  const day = `intDiv(${start}, ${SECONDS_PER_DAY})`;
  const isLater = `${IS_TRADE_SQL} AND time > fromUnixTimestamp(${OF_ALL}) AND time > fromUnixTimestamp(${start})`;
  const isYoung = `(time < fromUnixTimestamp(toUInt32((${day} + 1) * ${SECONDS_PER_DAY})) OR time >= fromUnixTimestamp({young: UInt32}))`;
  // UNION ALL matches columns by place, so they are in the order of the first part. Named trade_day: another expression here uses `day`.
  const columns = `toDate(time) AS trade_day, basket_id, from_currency_id, to_currency_id,
    ifNull(usd_value, toDecimal256(0, 38)) AS usd, 1 AS one, toInt128(amount_in) AS paid, toInt128(ifNull(amount_out, 0)) AS received`;
  return `FROM (
    SELECT day, basket_id, from_currency_id, to_currency_id, volume, trades, amount_in, amount_out FROM daily_trades
    WHERE generation = {generation: UInt32} AND toInt32(day) > ${day} AND toInt32(day) <= {rolledDay: Int32}
      AND ${rows.isConfigured}
    UNION ALL
    SELECT * FROM ${rows.of('conversions', columns, `${isLater} AND ${isYoung}`, isLater)}
  )`;
}

const SUMS = 'toString(sum(volume)) AS volume, sum(trades) AS trades';
const STARTS: Readonly<Record<Unit, string>> = {
  day: 'day',
  week: 'toMonday(day)',
  month: 'toStartOfMonth(day)',
};
const ROLLED_SQL = 'SELECT max(day) AS day FROM rolled_days WHERE generation = $1';

const readDay = rowReader({ day: columns.nullable(columns.number) });

const SUM = { volume: columns.text, trades: columns.text };
const readSum = rowReader(SUM);
const readKeyed = rowReader({ ...SUM, key: columns.text });

const volumeOf = ({ volume, trades }: RowOf<typeof SUM>): Volume => ({
  volume: parseUsd(volume),
  trades: Number(trades),
});

const SIDES = `basket_id AS basketId, from_currency_id AS fromId, to_currency_id AS toId,
  toString(sum(amount_in)) AS amountIn, toString(sum(amount_out)) AS amountOut, ${SUMS}`;

const SIDE = {
  ...SUM,
  basketId: columns.text,
  fromId: columns.text,
  toId: columns.text,
  amountIn: columns.text,
  amountOut: columns.text,
};
const readSide = rowReader(SIDE);
const readDaySide = rowReader({ ...SIDE, dayNumber: columns.number });

function sideOf({ basketId, fromId, toId, amountIn, amountOut, ...sums }: RowOf<typeof SIDE>): SideVolume {
  return { ...volumeOf(sums), basketId, fromId, toId, amountIn: BigInt(amountIn), amountOut: BigInt(amountOut) };
}

/** Statement parameters for the trades since `since`. */
function sinceParams(since: Since) {
  if (typeof since === 'number') return { since: Math.max(0, since) };
  const [chains, sinces] = [[...since.keys()], [...since.values()].map((moment) => Math.max(0, moment))];
  return { chains, sinces, since: Math.min(...sinces) };
}

export async function readTrades(read: Snapshot, api: ApiContext, rows: PricedRows): Promise<Trades> {
  const { generation } = read.state;
  const rolled = await read.row(readDay, ROLLED_SQL, [generation]);
  const rolledDay = rolled?.day ?? -1;
  const young = (rolledDay + 1) * SECONDS_PER_DAY;
  const query = <T>(
    reader: RowReader<T>,
    sql: (trades: string) => string,
    moment: Since,
    more: Record<string, unknown> = {},
  ): Promise<T[]> => {
    const since = typeof moment !== 'number' && moment.size === 0 ? 0 : moment;
    const params = { ...rows.params, ...sinceParams(since), rolledDay, young, ...more };
    return api.clickhouse.rows(reader, sql(tradesSql(rows, since)), params);
  };
  const grouped = async (key: string, since: Since) => {
    const sums = await query(readKeyed, (trades) => `SELECT ${key} AS key, ${SUMS} ${trades} GROUP BY key`, since);
    return new Map(sums.map((row) => [row.key, volumeOf(row)]));
  };
  const ends = new Map([...read.state.derived].map(([chain, { clock }]) => [chain, clock]));
  return {
    end: Math.max(0, ...ends.values()),
    ends,
    async total(since) {
      const [row] = await query(readSum, (trades) => `SELECT ${SUMS} ${trades}`, since);
      return row ? volumeOf(row) : NO_VOLUME;
    },
    byBasket: (since) => grouped('basket_id', since),
    byCurrency: (since) => grouped('arrayJoin(arrayDistinct([from_currency_id, to_currency_id]))', since),
    async byPeriod(unit, since, basketId) {
      const basket = basketId === null ? '' : ' WHERE basket_id = {basketId: String}';
      const key = `toString(toInt32(${STARTS[unit]}) * ${SECONDS_PER_DAY})`;
      const sql = (trades: string) => `SELECT ${key} AS key, ${SUMS} ${trades}${basket} GROUP BY key`;
      const sums = await query(readKeyed, sql, since, basketId === null ? {} : { basketId });
      return new Map(sums.map((row) => [Number(row.key), volumeOf(row)]));
    },
    async bySides(since) {
      const sql = (trades: string) => `SELECT ${SIDES} ${trades} GROUP BY basketId, fromId, toId`;
      return (await query(readSide, sql, since)).map(sideOf);
    },
    async bySidesAndDay(since, basketId) {
      const basket = basketId === null ? '' : ' WHERE basket_id = {basketId: String}';
      const sql = (trades: string) =>
        `SELECT toInt32(day) AS dayNumber, ${SIDES} ${trades}${basket} GROUP BY dayNumber, basketId, fromId, toId`;
      const sums = await query(readDaySide, sql, since, basketId === null ? {} : { basketId });
      return sums.map((row) => ({ ...sideOf(row), day: row.dayNumber }));
    },
  };
}
