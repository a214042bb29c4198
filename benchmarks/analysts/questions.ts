/** The eleven questions of analysts, each as a request to the service, and as the bare ClickHouse statement with the same answer. */
import { SECONDS_PER_DAY } from '../../domain/time.ts';
import { BEGIN, type BenchmarkHistory, BLOCK_SECONDS, SERVED } from '../clickhouse-paths/history.ts';
import { CHAINS } from '../reprocess/made-conversions.ts';
import { ADDRESSES } from './history.ts';

type Row = Readonly<Record<string, unknown>>;

interface Bare {
  readonly sql: string;
  readonly params: Readonly<Record<string, string | number>>;
  /** A figure that distinguishes a right answer from a wrong one. */
  readonly figure: (rows: readonly Row[]) => string;
}

export interface AnalystQuery {
  readonly name: string;
  /** A path, or a statement for `verustream sql`. */
  readonly asked: { readonly path: string } | { readonly sql: string };
  /** The same figure, from the text of the answer. */
  readonly figure: (text: string) => string;
  readonly bare: Bare;
}

const DAYS = 30;
const CHAIN = 'one';
const OF_CHAIN = `generation = ${SERVED} AND chain = '${CHAIN}'`;
const sum = (values: readonly unknown[]) => values.reduce<number>((total, value) => total + Number(value ?? 0), 0);
const count = (rows: readonly unknown[]) => String(rows.length);
const rowsOf = (text: string): Row[] => {
  const parsed = JSON.parse(text) as Row | Row[];
  return Array.isArray(parsed) ? parsed : ((parsed.results ?? parsed.balances ?? parsed.data ?? []) as Row[]);
};
const sumOfBalances = (rows: readonly Row[]) => sum(rows.map(({ balance }) => balance)).toFixed(4);
const csvRows = (text: string): string => String(text.trimEnd().split('\n').length - 1);
const first = (rows: readonly Row[], name: string): string => String(rows[0]?.[name]);
const satoshis = (coins: unknown) => String(Math.round(Number(coins) * 1e8));

/** Returns the questions with different parameters for each `turn`, so that no answer is cached. */
export function questionsAt(turn: number, { height }: BenchmarkHistory): AnalystQuery[] {
  const basket = `i${10 + (turn % 10)}`;
  const currency = `i${turn % 10}`;
  const owner = ADDRESSES[(turn * 7919) % ADDRESSES.length] ?? '';
  const at = Math.max(1, Math.floor(height * (0.3 + 0.6 * ((turn * 0.618) % 1))));
  const time = BEGIN + at * BLOCK_SECONDS;
  const until = Math.min(time + DAYS * SECONDS_PER_DAY, BEGIN + height * BLOCK_SECONDS);
  const least = 5_000 + (turn % 500);
  return [
    {
      name: '1 conversions of a basket in a month, CSV',
      asked: {
        path: `/api/conversions/?chain=${CHAIN}&basket=${basket}&minUsd=${least}&executedFromTime=${time}&executedToTime=${until}&format=csv`,
      },
      figure: csvRows,
      bare: {
        sql: `SELECT * FROM conversions WHERE ${OF_CHAIN} AND basket_id = {basket:String} AND usd_value >= {least:UInt32}
          AND time >= toDateTime({time:UInt32}) AND time < toDateTime({until:UInt32}) ORDER BY import_height DESC, txid, vout`,
        params: { basket, least, time, until },
        figure: count,
      },
    },
    {
      name: '2 volume of pairs by day',
      asked: { path: `/api/market/pairs/volume?basket=${basket}&days=${DAYS + turn}` },
      figure: (text) => String(sum(rowsOf(text).map(({ trades }) => trades))),
      bare: {
        sql: `SELECT toDate(time) AS day, from_currency_id, to_currency_id, count() AS trades, sum(usd_value) AS usd FROM conversions
          WHERE generation = ${SERVED} AND basket_id = {basket:String} AND status = 'completed' AND kind IN ('convert', 'via')
          AND toDate(time) > toDate(toDateTime({end:UInt32})) - {days:UInt32} GROUP BY ALL`,
        params: { basket, days: DAYS + turn, end: BEGIN + height * BLOCK_SECONDS },
        figure: (rows) => String(sum(rows.map(({ trades }) => trades))),
      },
    },
    {
      name: '3 twenty largest holders at a height',
      asked: { path: `/api/currency/${currency}/holders?height=${at}&limit=20` },
      figure: (text) => satoshis(rowsOf(text)[0]?.balance),
      bare: {
        sql: `SELECT address, sum(received) - sum(sent) AS balance FROM address_deltas
          WHERE chain = {home:String} AND currency_id = {currency:String} AND height <= {at:UInt32} GROUP BY address HAVING balance > 0
          ORDER BY balance DESC LIMIT 20`,
        params: { currency, at, home: CHAINS[(turn % 10) % CHAINS.length] ?? CHAIN },
        figure: (rows) => satoshis(Number(rows[0]?.balance) / 1e8),
      },
    },
    {
      name: '4 balances of an address at a height',
      asked: { path: `/api/address/${owner}/balance?chain=${CHAIN}&height=${at}` },
      figure: (text) => sumOfBalances(rowsOf(text)),
      bare: {
        sql: `SELECT currency_id, sum(received) - sum(sent) AS balance FROM address_deltas
          WHERE chain = '${CHAIN}' AND address = {owner:String} AND height <= {at:UInt32} GROUP BY currency_id`,
        params: { owner, at },
        figure: (rows) => sumOfBalances(rows.map(({ balance }) => ({ balance: Number(balance) / 1e8 }))),
      },
    },
    {
      name: '5 ten largest conversions of a basket',
      asked: {
        path: `/api/conversions/?chain=${CHAIN}&basket=${basket}&maxUsd=${90_000 - turn}&sort=largest&pageSize=10`,
      },
      figure: (text) => Number(rowsOf(text)[0]?.usdValue).toFixed(4),
      bare: {
        sql: `SELECT * FROM conversions WHERE ${OF_CHAIN} AND basket_id = {basket:String} AND usd_value <= {most:UInt32}
          AND usd_value IS NOT NULL ORDER BY usd_value DESC LIMIT 10`,
        params: { basket, most: 90_000 - turn },
        figure: (rows) => Number(rows[0]?.usd_value).toFixed(4),
      },
    },
    {
      name: '6 what an address converted, CSV',
      asked: { path: `/api/address/${owner}/conversions?chain=${CHAIN}&format=csv` },
      figure: csvRows,
      bare: {
        sql: `SELECT * FROM conversions WHERE ${OF_CHAIN} AND (source = {owner:String} OR destination = {owner:String})
          ORDER BY import_height DESC`,
        params: { owner },
        figure: count,
      },
    },
    {
      name: '7 stamps whose sides disagree, SQL',
      asked: {
        sql: `SELECT txid, vout, from_usd, to_usd FROM v_conversions WHERE diverged AND chain = '${CHAIN}' AND height BETWEEN ${at} AND ${at + 1_000} ORDER BY height, txid`,
      },
      figure: csvRows,
      bare: {
        sql: `SELECT txid, vout, from_usd, to_usd FROM conversions WHERE ${OF_CHAIN} AND diverged
          AND import_height BETWEEN {at:UInt32} AND {at:UInt32} + 1000 ORDER BY import_height, txid`,
        params: { at },
        figure: count,
      },
    },
    {
      name: '8 one generation against the other, SQL',
      asked: {
        sql: `SELECT count() AS n, sum(usd_value) AS usd, sum(other_usd_value) AS other_usd FROM v_conversions
          WHERE chain = '${CHAIN}' AND height <= ${at}`,
      },
      figure: (text) => text.trimEnd().split('\n').at(-1)?.split(',')[0] ?? '',
      bare: {
        sql: `SELECT count() AS n, sum(usd_value) AS usd, sum(other_usd_value) AS other_usd FROM conversions AS own
          LEFT JOIN (SELECT chain, txid, vout, usd_value AS other_usd_value FROM conversions
            WHERE generation = 1 AND chain = '${CHAIN}' AND import_height <= {at:UInt32}) AS other USING (chain, txid, vout)
          WHERE ${OF_CHAIN} AND import_height <= {at:UInt32}`,
        params: { at },
        figure: (rows) => first(rows, 'n'),
      },
    },
    {
      name: '9 block at a time',
      asked: { path: `/api/blocks/at?chain=${CHAIN}&time=${time + 7}` },
      figure: (text) => String((JSON.parse(text) as Row).height),
      bare: {
        sql: `SELECT max(height) AS height FROM blocks WHERE chain = '${CHAIN}' AND clock <= toDateTime({time:UInt32})`,
        params: { time: time + 7 },
        figure: (rows) => first(rows, 'height'),
      },
    },
    {
      name: '10 prices of a currency block by block, CSV',
      asked: { path: `/api/oracle/prices/${basket}/history?from=${at}&to=${at + 3_000}&format=csv` },
      figure: csvRows,
      bare: {
        sql: `SELECT * FROM prices WHERE generation = ${SERVED} AND currency_id = {basket:String} AND chain = '${CHAIN}'
          AND height BETWEEN {at:UInt32} AND {at:UInt32} + 3000 ORDER BY tick DESC`,
        params: { basket, at },
        figure: count,
      },
    },
    {
      name: '11 volume and fees of a basket by day',
      asked: { path: `/api/market/baskets/${basket}/volume?days=${60 + turn}` },
      figure: (text) => String(sum(rowsOf(text).map(({ trades }) => trades))),
      bare: {
        sql: `SELECT toDate(time) AS day, count() AS trades, sum(usd_value) AS usd, sum(usd_value) * 0.00025 AS fees FROM conversions
          WHERE generation = ${SERVED} AND basket_id = {basket:String} AND status = 'completed' AND kind IN ('convert', 'via')
          AND toDate(time) > toDate(toDateTime({end:UInt32})) - {days:UInt32} GROUP BY day`,
        params: { basket, days: 60 + turn, end: BEGIN + height * BLOCK_SECONDS },
        figure: (rows) => String(sum(rows.map(({ trades }) => trades))),
      },
    },
  ];
}
