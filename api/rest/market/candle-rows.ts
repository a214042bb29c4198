/**
 * Candles from ClickHouse, one statement for each answer. A block belongs to the step of its chain's clock, which never goes back: the
 * blocks of a step are consecutive, and a candle opens at the close of the previous one.
 */
import { IS_LIVE_BASKET_CLICKHOUSE_SQL } from '../../../domain/basket-liveness.ts';
import { parsePrice } from '../../../domain/decimal.ts';
import { IS_TRADE_SQL } from '../../../domain/transfers.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import { parseUsd, type Usd } from '../../http/usd.ts';
import { pricedHeights } from '../../state/priced-heights.ts';
import type { PricedRows } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { StepWindow } from './steps.ts';

interface Ends<Price> {
  readonly open: Price;
  readonly high: Price;
  readonly low: Price;
  readonly close: Price;
}

export interface StepCandle<Price> extends Ends<Price> {
  /** Start of the step, seconds since the epoch. */
  readonly time: number;
  /** Satoshis: of base and quote, or of the currency alone. */
  readonly volumes: readonly [bigint, bigint];
  /** Sum over the trades that have a value. */
  readonly volumeUsd: Usd;
  readonly trades: number;
}

/** Units of quote for one of base, greater than 0. */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

const isPriced = (height: string) =>
  `${height} <= transform(toString(chain), {chains: Array(String)}, {heights: Array(Int64)}, toInt64(-1))`;
const IS_DERIVED =
  'position <= transform(toString(chain), {chains: Array(String)}, {positions: Array(Int64)}, toInt64(-1))';
const BEFORE_END = 'time < fromUnixTimestamp({until: UInt32})'; // a block's time is never after the clock
const END_STEP = 'intDiv({until: UInt32}, {span: UInt32})';
/** For each chain: the first block of each step, and the first block after the last step. */
const STEPS = `steps AS (
    SELECT toString(chain) AS of_chain, least(intDiv(toUnixTimestamp(clock), {span: UInt32}), ${END_STEP}) AS step, min(height) AS first_height
    FROM blocks WHERE chain IN {chains: Array(String)} AND clock >= fromUnixTimestamp({from: UInt32}) AND ${isPriced('height')} AND ${IS_DERIVED}
    GROUP BY of_chain, step
  )`;
const FIRST_HEIGHT = '(SELECT min(first_height) FROM steps)';
/** Rows with `of_chain` and `at_height`, each with the step of its block. */
const inSteps = (rows: string) => `(
    SELECT * FROM ${rows} AS found ASOF JOIN steps ON found.of_chain = steps.of_chain AND found.at_height >= steps.first_height
    WHERE step < ${END_STEP}
  )`;
const TRADE = `toString(chain) AS of_chain, import_height AS at_height, from_currency_id, toInt128(amount_in) AS paid,
      toInt128(ifNull(amount_out, 0)) AS received, ifNull(usd_value, toDecimal256(0, 38)) AS usd`;

/** SQL parts of a candle statement. */
interface Source {
  /** Rows with `price`, `rank`, which sorts prices, and `place`, which sorts rows. */
  readonly prices: string;
  /** The last row with a price before all of `prices`, or none. */
  readonly before: string;
  readonly print: (price: string) => string;
  /** Rows with the columns of `TRADE`. */
  readonly trades: string;
  /** Satoshis that a trade adds to each volume. */
  readonly volumes: readonly [string, string];
}

const candlesSql = ({ prices, before, print, trades, volumes }: Source) => `WITH ${STEPS},
  ends AS (
    SELECT step, argMin(price, place) AS first, argMax(price, (rank, place)) AS most, argMin(price, (rank, place)) AS least,
      argMax(price, place) AS last
    FROM ${inSteps(prices)} GROUP BY step
  ),
  volumes AS (
    SELECT step, sum(${volumes[0]}) AS one, sum(${volumes[1]}) AS other, sum(usd) AS worth, count() AS trades
    FROM ${inSteps(trades)} GROUP BY step
  )
  SELECT toInt64(step) * {span: UInt32} AS time, ${print('first')} AS first, ${print('most')} AS most, ${print('least')} AS least,
    ${print('last')} AS last, toString(one) AS one, toString(other) AS other, toString(worth) AS worth, toUInt64(trades) AS trades
  FROM ends LEFT JOIN volumes USING (step) ORDER BY time
  UNION ALL
  SELECT toInt64(-1), '', '', '', ${print('price')}, '0', '0', '0', toUInt64(0) FROM ${before}`;

/** Scale that keeps any two prices of pairs apart: the smallest price is above 10^-28. */
const RANK_SCALE = `toInt256('1${'0'.repeat(49)}')`;
/** A basket's own token counts as a reserve of full weight, so that one formula prices every pair. */
const held = (currency: string) => `if(${currency} = {basket: String}, (supply, toInt64(100000000)),
        (reserves[indexOf(reserve_ids, ${currency})], weights[indexOf(reserve_ids, ${currency})]))`;
/** The last state of each block, newest first, if the pair has a price in it. */
const statesSql = (condition: string) => `
    SELECT toString(chain) AS of_chain, at_height, at_height AS place, (toInt128(quote.1) * base.2, toInt128(base.1) * quote.2) AS price,
      intDiv(toInt256(price.1) * ${RANK_SCALE}, toInt256(price.2)) AS rank
    FROM (
      SELECT chain, height AS at_height, flags, supply, ${held('{base: String}')} AS base, ${held('{quote: String}')} AS quote
      FROM currency_states
      WHERE chain = {chain: String} AND currency_id = {basket: String} AND ${isPriced('height')} AND ${IS_DERIVED} AND ${condition}
      ORDER BY height DESC, tx_index DESC, vout DESC LIMIT 1 BY height
    )
    WHERE ${IS_LIVE_BASKET_CLICKHOUSE_SQL} AND supply > 0 AND least(base.1, base.2, quote.1, quote.2) > 0`;
const SELLS = 'from_currency_id = {base: String} AND to_currency_id = {quote: String}';
const BUYS = 'from_currency_id = {quote: String} AND to_currency_id = {base: String}';

const pairSql = (rows: PricedRows) =>
  candlesSql({
    prices: `(${statesSql(`height >= ${FIRST_HEIGHT} AND ${BEFORE_END}`)})`,
    before: `(${statesSql(`height < ${FIRST_HEIGHT}`)} LIMIT 1)`,
    print: (price) => `concat(toString(${price}.1), '/', toString(${price}.2))`,
    trades: rows.of(
      'conversions',
      TRADE,
      `chain = {chain: String} AND import_height >= ${FIRST_HEIGHT} AND ${isPriced('import_height')} AND ${BEFORE_END}
        AND basket_id = {basket: String}
        AND ${IS_TRADE_SQL} AND ((${SELLS}) OR (${BUYS}))`,
    ),
    volumes: [
      'if(from_currency_id = {base: String}, paid, received)',
      'if(from_currency_id = {base: String}, received, paid)',
    ],
  });

const PRICE =
  'toString(chain) AS of_chain, height AS at_height, tick, tick AS place, usd_price AS price, usd_price AS rank';

const currencySql = (rows: PricedRows) =>
  candlesSql({
    prices: rows.of(
      'prices',
      PRICE,
      `currency_id = {id: String} AND tick > {after: Int64} AND tick <= {last: Int64} AND ${isPriced('height')}`,
    ),
    before: rows.newest(PRICE, `currency_id = {id: String} AND tick <= {after: Int64} AND ${isPriced('height')}`, '1'),
    print: (price) => `toString(${price})`,
    trades: rows.of(
      'conversions',
      TRADE,
      `tick > {after: Int64} AND ${isPriced('import_height')} AND ${BEFORE_END} AND ${IS_TRADE_SQL}
        AND (from_currency_id = {id: String} OR to_currency_id = {id: String})`,
    ),
    volumes: ['if(from_currency_id = {id: String}, paid, received)', 'toInt128(0)'],
  });

const readStep = rowReader({
  /** −1 marks the row whose `last` is the last price before the window. */
  time: columns.text,
  first: columns.text,
  most: columns.text,
  least: columns.text,
  last: columns.text,
  one: columns.text,
  other: columns.text,
  worth: columns.text,
  trades: columns.text,
});

async function readCandles<Price>(
  api: ApiContext,
  sql: string,
  params: Readonly<Record<string, unknown>>,
  parse: (text: string) => Price,
  isLess: (a: Price, b: Price) => boolean,
): Promise<StepCandle<Price>[]> {
  const records = await api.clickhouse.rows(readStep, sql, params);
  const before = records.find(({ time }) => time === '-1');
  let close = before ? parse(before.last) : null;
  const steps = records.filter((record) => record !== before).sort((a, b) => Number(a.time) - Number(b.time));
  return steps.map(({ time, first, most, least, last, one, other, worth, trades }) => {
    const open = close ?? parse(first);
    const [high, low] = [parse(most), parse(least)];
    close = parse(last);
    return {
      time: Number(time),
      open,
      high: isLess(high, open) ? open : high,
      low: isLess(open, low) ? open : low,
      close,
      volumes: [BigInt(one), BigInt(other)],
      volumeUsd: parseUsd(worth),
      trades: Number(trades),
    };
  });
}

async function stepParams(read: Snapshot, chains: readonly string[], window: StepWindow) {
  const heights = await pricedHeights(read, chains);
  const positions = chains.map((chain) => read.state.derived.get(chain)?.position ?? -1);
  return { ...window, chains, positions, heights: chains.map((chain) => heights.get(chain) ?? -1) };
}

/** Candles of the price of one `base` in `quote` in a basket; `basket`, `base` and `quote` are i-addresses. */
export async function pairCandles(
  read: Snapshot,
  api: ApiContext,
  rows: PricedRows,
  pair: { readonly chain: string; readonly basket: string; readonly base: string; readonly quote: string },
  window: StepWindow,
): Promise<StepCandle<Fraction>[]> {
  const params = { ...rows.params, ...(await stepParams(read, [pair.chain], window)), ...pair };
  const parse = (text: string): Fraction => {
    const [over = '0', under = '1'] = text.split('/');
    return { over: BigInt(over), under: BigInt(under) };
  };
  return readCandles(api, pairSql(rows), params, parse, (a, b) => a.over * b.under < b.over * a.under);
}

/** Candles of the USD price of a currency. */
export async function currencyCandles(
  read: Snapshot,
  api: ApiContext,
  rows: PricedRows,
  id: string,
  window: StepWindow,
): Promise<StepCandle<bigint>[]> {
  const at = async (moment: number) => (moment < 0 ? null : await rows.tickAt(moment)) ?? '-1';
  const steps = await stepParams(read, [...read.state.derived.keys()], window);
  const params = { ...rows.params, ...steps, id, after: await at(window.from - 1), last: await at(window.until - 1) };
  return readCandles(api, currencySql(rows), params, parsePrice, (a, b) => a < b);
}
