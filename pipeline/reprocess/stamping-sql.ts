/**
 * Stamps of all settled conversions as one ClickHouse query, generated from the rule table that the live function uses. Sides and prices
 * are read from `stamp_prices`, medians from `stamp_bounds`; stamping-sql.test.ts checks that both agree to the last digit.
 */

import { NO_DELIVERY, type Side } from '../../domain/stamps.ts';
import { SECONDS_PER_DAY } from '../../domain/time.ts';
import { BOUNDS_DAYS } from '../../processors/pricing/backfill-bounds.ts';
import { type Condition, RULES, type SideKind, TRUTH } from '../../processors/pricing/stamp-rules.ts';
import { CONVERSION_FACT_COLUMNS, CONVERSION_STAMP_COLUMNS } from '../../schemas/conversion-columns.ts';

/**
 * Conversions that were settled on their chain: each has a stamp in every generation, which the statement makes. A conversion that counts
 * as refunded by a rule of its regime may have no stamp in another generation.
 */
export const IS_SETTLED = `reason != '${NO_DELIVERY}'`;

export interface StampingOptions {
  /** Whether any block is stamped by the backfill regime; otherwise there are no bounds to check. */
  readonly hasBackfill: boolean;
  /** Columns of each side in addition to those of the stamp. */
  readonly sideColumns?: readonly string[];
}

const COLUMN_OF: Readonly<Record<keyof SideKind, string>> = {
  isAnchor: 'is_anchor',
  isNative: 'is_native',
  isBasket: 'is_basket',
};
const SIDE_CODES: Readonly<Record<Side, number>> = { from: 1, to: 2 };

export function conditionSql({ from, to }: Condition): string {
  const ofSide = (side: Side, asked: Partial<SideKind> = {}) =>
    (Object.keys(asked) as (keyof SideKind)[]).map((kind) => `${asked[kind] ? '' : 'NOT '}${side}_${COLUMN_OF[kind]}`);
  return [...ofSide('from', from), ...ofSide('to', to)].join(' AND ');
}

/** Number of the first row of a table that applies, counted from 1; 0 when none applies. */
function firstRow(rows: readonly { readonly when: Condition }[]): string {
  return `multiIf(${rows.map(({ when }, index) => `${conditionSql(when)}, ${index + 1}`).join(', ')}, 0)`;
}

/** The value of a table's row, by the number of the row. */
function ofRow(row: string, values: readonly (string | number | null)[]): string {
  const list = values.map((value) => (typeof value === 'number' ? value : `'${value ?? ''}'`));
  return `[${list.join(', ')}][${row}]`;
}

const sideCodes = (rows: readonly { readonly side: Side | null }[]) =>
  rows.map(({ side }) => (side ? SIDE_CODES[side] : 0));

/** Params: base and generation; low and high: ticks, inclusive; days: UTC day of the clock of each of `chains`. */
const RANGE = 'tick BETWEEN {low:UInt64} AND {high:UInt64}';
const DAY = `toInt32(intDiv(toUnixTimestamp(time), ${SECONDS_PER_DAY}))`;

/**
 * One row per settled conversion of generation `base`: CONVERSION_FACT_COLUMNS, the columns of the stamp, and `decided_by` (1 from, 2 to, 0
 * neither). Sides are codes, because texts cost time.
 */
export function stampedSql({ hasBackfill, sideColumns = [] }: StampingOptions): string {
  const asked = ['usd_per_satoshi', 'is_anchor', 'is_native', 'is_basket', 'is_outside', ...sideColumns];
  // Only a row of the tick itself counts: when the newest row is of an earlier tick, each column has its default.
  const ofTick = (side: Side, column: string) =>
    `if(${side}_side.tick = facts.tick, ${side}_side.${column}, defaultValueOfArgumentType(${side}_side.${column}))`;
  const sideOf = (side: Side) => asked.map((column) => `${ofTick(side, column)} AS ${side}_${column}`);
  // ASOF joins a table of few currencies, each with its ticks in order, instead of one with an entry per currency and tick.
  const join = (side: Side) => `ASOF LEFT JOIN (
      SELECT tick, currency_id, ${[...asked, 'regime'].join(', ')} FROM stamp_prices WHERE generation = {generation:UInt32} AND ${RANGE}
    ) AS ${side}_side ON ${side}_side.currency_id = facts.${side}_currency_id AND ${side}_side.tick <= facts.tick`;
  const joinBounds = (side: Side) => `LEFT JOIN (
      SELECT chain, currency_id, day, twice_median, days FROM stamp_bounds WHERE generation = {generation:UInt32}
    ) AS ${side}_bounds ON ${side}_bounds.chain = facts.chain AND ${side}_bounds.currency_id = facts.${side}_currency_id
      AND ${side}_bounds.day = facts.day`;
  const boundsOf = (side: Side) =>
    hasBackfill
      ? [`${side}_bounds.twice_median AS ${side}_twice_median`, `${side}_bounds.days AS ${side}_days`]
      : [`toDecimal256(0, 30) AS ${side}_twice_median`, `0 AS ${side}_days`];
  const doubtful = (side: Side) =>
    `is_trade AND is_backfill AND NOT ${side}_is_anchor AND NOT ${side}_is_native AND ${side}_usd_per_satoshi IS NOT NULL`;
  const isOut = (
    side: Side,
  ) => `${side}_doubtful AND ${side}_column IS NOT NULL AND (${side}_is_outside OR ${side}_days > 0 AND ifNull(
    ${side}_usd_per_satoshi * 2000000000 < ${side}_twice_median OR ${side}_usd_per_satoshi * 100000000 > 5 * ${side}_twice_median, 0))`;
  // In layers, because within one SELECT every use of an alias is analysed again, and a deep tree of aliases takes a second.
  const layers = [
    `status = 'refunded' AS is_refund,
      NOT is_refund AND kind != 'mint' AND from_currency_id != '' AS has_from,
      NOT is_refund AND kind != 'burn' AS has_to,
      regime = 'backfill' AS is_backfill,
      ${firstRow(RULES)} AS rule_row,
      ${ofRow(firstRow(TRUTH), sideCodes(TRUTH))} AS truth,
      day + ${BOUNDS_DAYS + 1} <= transform(chain, {chains:Array(String)}, {days:Array(Int32)}, toInt32(0)) AS is_closed`,
    `has_from AND has_to AS is_trade,
      ${ofRow('rule_row', sideCodes(RULES))} AS side,
      if(has_from, from_usd_per_satoshi * amount_in, NULL) AS from_column,
      if(has_to AND ifNull(amount_out, 0) != 0, to_usd_per_satoshi * ifNull(amount_out, 0), NULL) AS to_column`,
    `${doubtful('from')} AS from_doubtful,
      ${doubtful('to')} AS to_doubtful,
      ifNull(10 * (greatest(from_column, to_column) - least(from_column, to_column)) > greatest(from_column, to_column), 0) AS apart`,
    `${isOut('from')} AS from_out,
      ${isOut('to')} AS to_out,
      if((apart OR is_backfill) AND truth != 0, truth, side) AS preferred`,
    `from_out OR to_out AS any_out,
      from_column IS NOT NULL AND NOT from_out AS from_believed,
      to_column IS NOT NULL AND NOT to_out AS to_believed,
      multiIf(truth = 1 AND from_believed, 1, truth = 2 AND to_believed, 2, from_believed, 1, to_believed, 2, 0) AS mirrors,
      multiIf(preferred = 1 AND from_column IS NOT NULL, 1, preferred = 2 AND to_column IS NOT NULL, 2,
        from_column IS NOT NULL, 1, to_column IS NOT NULL, 2, 0) AS decides`,
    `multiIf(NOT has_from AND NOT has_to, 'refunded', NOT has_to, 'burn', NOT has_from, 'mint',
        any_out AND mirrors = 0, 'out_of_bounds', any_out AND side != 0, 'mirrored', side = 0, 'shown',
        decides = 0, 'no_price', 'decided') AS outcome,
      if(mirrors = 1, from_column, to_column) AS mirrored_usd`,
    `multiIf(outcome = 'decided', decides, outcome = 'mirrored', mirrors, 0) AS decided_by,
      outcome IN ('refunded', 'out_of_bounds', 'no_price') AS is_blank,
      multiIf(is_blank, NULL, any_out, mirrored_usd, from_column) AS from_usd,
      multiIf(is_blank, NULL, any_out, mirrored_usd, to_column) AS to_usd,
      multiIf(decided_by = 0, NULL, any_out, mirrored_usd, decided_by = 1, from_column, to_column) AS usd_value,
      if(outcome IN ('decided', 'mirrored', 'shown'), ${ofRow(
        'rule_row',
        RULES.map(({ rule }) => rule),
      )}, 'unpriced') AS rule,
      multiIf(outcome = 'decided', '', outcome = 'shown', ${ofRow(
        'rule_row',
        RULES.map(({ reason }) => reason),
      )}, outcome) AS reason,
      outcome IN ('decided', 'shown') AND NOT any_out AND apart AS diverged,
      (from_doubtful OR to_doubtful) AND NOT is_closed AS provisional`,
  ];
  const facts = `SELECT ${CONVERSION_FACT_COLUMNS.join(', ')}, ${DAY} AS day FROM conversions
    WHERE generation = {base:UInt32} AND ${IS_SETTLED} AND ${RANGE}`;
  const joined = [
    ...CONVERSION_FACT_COLUMNS.map((name) => `facts.${name} AS ${name}`),
    'facts.day AS day',
    `${ofTick('to', 'regime')} AS regime`,
  ];
  const sides = [...sideOf('from'), ...sideOf('to'), ...boundsOf('from'), ...boundsOf('to')];
  const rows = `SELECT ${[...joined, ...sides].join(', ')} FROM (${facts}) AS facts
    ${join('from')} ${join('to')} ${hasBackfill ? `${joinBounds('from')} ${joinBounds('to')}` : ''}`;
  return layers.reduce((below, layer) => `SELECT *, ${layer} FROM (${below})`, rows);
}

const INSERT_THREADS = 2;

/** The statement that stamps every settled conversion of the ticks. */
export function restampSql(options: StampingOptions): string {
  return `INSERT INTO conversions (generation, ${[...CONVERSION_FACT_COLUMNS, ...CONVERSION_STAMP_COLUMNS].join(', ')})
    SELECT {generation:UInt32}, ${[...CONVERSION_FACT_COLUMNS, ...CONVERSION_STAMP_COLUMNS].join(', ')} FROM (${stampedSql(options)})
    SETTINGS max_insert_threads = ${INSERT_THREADS}`;
}
