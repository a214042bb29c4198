/** Volume: sums over the settled conversions that are trades, up to what is committed, by block time. */
import { IS_TRADE_SQL } from '../../schemas/trades.ts';
import type { ApiContext } from '../api-context.ts';
import { committedTick } from '../routes/committed-tick.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { parseUsd, type Usd } from './usd.ts';

export interface Volume {
  readonly volume: Usd;
  readonly trades: number;
}

export const NO_VOLUME: Volume = { volume: 0n, trades: 0 };

export interface Trades {
  /** End of every window: the newest block's time, seconds. */
  readonly end: number;
  /** Since a moment, in total. */
  total(since: number): Promise<Volume>;
  byBasket(since: number): Promise<ReadonlyMap<string, Volume>>;
  /** A trade counts for each of its sides. */
  byCurrency(since: number): Promise<ReadonlyMap<string, Volume>>;
  /** By the first second of each day, week (from Monday) or month. */
  byPeriod(unit: Unit, since: number, basketId: string | null): Promise<ReadonlyMap<number, Volume>>;
  bySides(since: number): Promise<readonly SideVolume[]>;
}

export type Unit = 'day' | 'week' | 'month';

export interface SideVolume extends Volume {
  readonly basketId: string;
  readonly fromId: string;
  readonly toId: string;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

/** Whole days that are rolled up, and the rows of all others. */
const TRADES = `FROM (
  SELECT day, basket_id, from_currency_id, to_currency_id, volume, trades, amount_in, amount_out FROM daily_trades
  WHERE generation = {generation: UInt32} AND toInt32(day) > {sinceDay: Int32} AND toInt32(day) <= {rolledDay: Int32}
  UNION ALL
  SELECT toDate(time), basket_id, from_currency_id, to_currency_id, ifNull(usd_value, toDecimal256(0, 38)), 1,
    toInt128(amount_in), toInt128(ifNull(amount_out, 0))
  FROM conversions WHERE generation = {generation: UInt32} AND tick <= {tick: UInt64} AND ${IS_TRADE_SQL}
    AND time > fromUnixTimestamp({since: UInt32})
    AND (time < fromUnixTimestamp({sinceDayEnds: UInt32}) OR time >= fromUnixTimestamp({young: UInt32}))
)`;
const SUMS = 'toString(sum(volume)) AS volume, sum(trades) AS trades';
const STARTS: Readonly<Record<Unit, string>> = {
  day: 'day',
  week: 'toMonday(day)',
  month: 'toStartOfMonth(day)',
};
const SECONDS_PER_DAY = 86_400;
const ROLLED_SQL = 'SELECT max(day) AS day FROM rolled_days WHERE generation = $1';

interface SumRecord {
  readonly key: string;
  readonly volume: string | null;
  readonly trades: string;
}

const volumeOf = ({ volume, trades }: Omit<SumRecord, 'key'>): Volume => ({
  volume: parseUsd(volume ?? '0'),
  trades: Number(trades),
});

export async function readTrades(read: Snapshot, api: ApiContext): Promise<Trades> {
  const tick = await committedTick(read);
  const { generation } = read.state;
  const rolled = await read.row<{ day: number | null }>(ROLLED_SQL, [generation]);
  const rolledDay = rolled?.day ?? -1;
  const query = <T>(sql: string, moment: number, more: Record<string, unknown> = {}) => {
    const since = Math.max(0, moment);
    const sinceDay = Math.floor(since / SECONDS_PER_DAY);
    const [sinceDayEnds, young] = [sinceDay + 1, rolledDay + 1].map((day) => day * SECONDS_PER_DAY);
    return api.clickhouse.query<T>(sql, { generation, tick, since, sinceDay, sinceDayEnds, rolledDay, young, ...more });
  };
  const grouped = async (key: string, since: number) => {
    const rows = await query<SumRecord>(`SELECT ${key} AS key, ${SUMS} ${TRADES} GROUP BY key`, since);
    return new Map(rows.map((row) => [row.key, volumeOf(row)]));
  };
  return {
    end: Math.max(0, ...[...read.state.derived.values()].map(({ clock }) => clock)),
    async total(since) {
      const [row] = await query<SumRecord>(`SELECT ${SUMS} ${TRADES}`, since);
      return row ? volumeOf(row) : NO_VOLUME;
    },
    byBasket: (since) => grouped('basket_id', since),
    byCurrency: (since) => grouped('arrayJoin(arrayDistinct([from_currency_id, to_currency_id]))', since),
    async byPeriod(unit, since, basketId) {
      const basket = basketId === null ? '' : ' WHERE basket_id = {basketId: String}';
      const sql = `SELECT toString(toInt32(${STARTS[unit]}) * ${SECONDS_PER_DAY}) AS key, ${SUMS} ${TRADES}${basket} GROUP BY key`;
      const rows = await query<SumRecord>(sql, since, basketId === null ? {} : { basketId });
      return new Map(rows.map((row) => [Number(row.key), volumeOf(row)]));
    },
    async bySides(since) {
      const sql = `SELECT basket_id AS basketId, from_currency_id AS fromId, to_currency_id AS toId,
        toString(sum(amount_in)) AS amountIn, toString(sum(amount_out)) AS amountOut,
        ${SUMS} ${TRADES} GROUP BY basketId, fromId, toId`;
      type Row = SumRecord & { readonly [K in 'basketId' | 'fromId' | 'toId' | 'amountIn' | 'amountOut']: string };
      const rows = await query<Row>(sql, since);
      return rows.map(({ basketId, fromId, toId, amountIn, amountOut, volume, trades }) => ({
        ...volumeOf({ volume, trades }),
        basketId,
        fromId,
        toId,
        amountIn: BigInt(amountIn),
        amountOut: BigInt(amountOut),
      }));
    },
  };
}
