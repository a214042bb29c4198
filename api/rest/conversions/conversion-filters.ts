/** Filters of a list of conversions, as conditions for Postgres and, where possible, for ClickHouse. */

import { plainDecimal } from '../../../domain/decimal.ts';
import type { TransferStatus } from '../../../domain/transfers.ts';
import { CONVERSION_STATUSES, CONVERSION_TYPES } from '../../../domain/transfers.ts';
import type { ApiContext } from '../../api-context.ts';
import { heightConditions } from '../../http/height-range.ts';
import { type ParameterValues, queryParameter } from '../../http/parameters.ts';
import { DECIMALS, NUMBERS, refuseEmptyRange, TIMES_BEFORE } from '../../http/ranges.ts';
import { LAST_MOMENT, parseTime, TIME } from '../../http/time-parameter.ts';
import { writtenHeight, writtenName } from '../../schema/json-schema.ts';
import { writtenDecimal } from '../../schema/written-decimal.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import { findCurrency } from '../../state/find-currency.ts';
import { type ClosedCondition, type ClosedConversions, SETTLED_STATUSES } from './closed-conversions.ts';
import { CURRENT_CONVERSIONS } from './conversion-rows.ts';
import { STATUS_MEANINGS } from './schema.ts';
import {
  countsAsRefunded,
  FAR_END,
  hasDiverged,
  SAME_EXPORT,
  STAMP_JOIN,
  STORED_STATUS_SQL,
  TRANSFER_ORDERS,
  type TransferOrder,
} from './transfer-ends.ts';

export const filterParameters = {
  from: queryParameter('From currency: name or i-address', writtenName),
  to: queryParameter('To currency: name or i-address', writtenName),
  basket: queryParameter('Basket that executes the conversion: name or i-address', writtenName),
  status: queryParameter(STATUS_MEANINGS, { type: 'string', enum: CONVERSION_STATUSES }),
  type: queryParameter('Type', { type: 'string', enum: CONVERSION_TYPES }),
  minUsd: queryParameter('Least USD value, compared digit by digit', writtenDecimal),
  maxUsd: queryParameter('Greatest USD value, compared digit by digit', writtenDecimal),
  diverged: queryParameter('Whether fromUsd and toUsd differ by more than 10 % of the larger', { type: 'boolean' }),
  fromTime: queryParameter('Requested at or after: ISO 8601 or seconds since the epoch', TIME),
  toTime: queryParameter('Requested before: ISO 8601 or seconds since the epoch', TIME),
  fromHeight: queryParameter('Requested in this block or later', writtenHeight),
  toHeight: queryParameter('Requested in this block or earlier', writtenHeight),
  executedFromTime: queryParameter('Executed at or after: ISO 8601 or seconds since the epoch', TIME),
  executedToTime: queryParameter('Executed before: ISO 8601 or seconds since the epoch', TIME),
  executedFromHeight: queryParameter('Executed in this block, of importChain, or later', writtenHeight),
  executedToHeight: queryParameter('Executed in this block, of importChain, or earlier', writtenHeight),
  sort: queryParameter(
    'newest, oldest: by the request; largest: by usdValue, only conversions that have one. A reorganisation or a reprocess invalidates cursors of largest',
    { type: 'string', enum: TRANSFER_ORDERS, default: 'newest' },
  ),
};

export interface ConversionParameters {
  readonly chain: string;
  readonly generation: number;
  readonly filters: ParameterValues<typeof filterParameters>;
  /** Sender or recipient; null for every address. */
  readonly address: string | null;
}

export interface ConversionFilter {
  readonly chain: string;
  /** Values of the Postgres statements; the first two are the generation and the chain. */
  readonly values: readonly unknown[];
  /** Conditions on the request, over rows of `transfers t`. */
  readonly conditions: string;
  /** Conditions on the outcome. */
  readonly outcome: readonly Outcome[];
  readonly isValued: boolean;
  readonly order: TransferOrder;
  /** Whether `conditions` are the whole filter, and an index finds the rows or most rows match. */
  readonly isPlain: boolean;
  /** Whether `conditions` depend only on the request row, so that their result never changes. */
  readonly isOfRequest: boolean;
  /** The whole filter for settled conversions in ClickHouse; null if ClickHouse cannot evaluate it. */
  readonly whenSettled: ClosedCondition | null;
  /** The same; also null if Postgres finds the rows as well on its own. */
  readonly inClickHouse: ClosedCondition | null;
}

/** SQL expressions for one end of a transfer: status, effects of its stamp, and the block that executed it. */
interface End {
  readonly status: string;
  readonly countsAsRefunded: string;
  /** Whether its stamp is marked as diverged. */
  readonly hasDiverged: string;
  /** Time and height of the import; null before it. */
  readonly time: string;
  readonly height: string;
}

const HERE: End = {
  status: 't.status',
  countsAsRefunded: countsAsRefunded('t'),
  hasDiverged: hasDiverged('t'),
  time: 't.import_time',
  height: 't.import_height',
};
const ELSEWHERE: End = {
  status: STORED_STATUS_SQL,
  countsAsRefunded: countsAsRefunded('far'),
  hasDiverged: hasDiverged('far'),
  time: 'coalesce(far.import_time, t.import_time)',
  height: 'coalesce(far.import_height, t.import_height)',
};

/** Returns a condition on an end. */
type Outcome = (end: End) => string;

const COLUMNS = {
  from: ['t.from_currency_id', 'from_currency_id'],
  to: ['t.to_currency_id', 'to_currency_id'],
  basket: ['t.import_currency_id', 'basket_id'],
} as const;

/** Stored statuses of each served status. For its sender a conversion is pending until it is executed. */
const STORED_STATUSES: Readonly<Record<string, readonly TransferStatus[]>> = {
  pending: ['pending', 'exported'],
  refunded: ['refunded', 'unmatched'],
};
/** Further conditions on these where the stamp decides the served status. */
const DECIDED_BY_STAMP: Readonly<Record<string, Outcome>> = {
  refunded: (end) => ` AND (${end.status} <> 'unmatched' OR ${end.countsAsRefunded})`,
  unmatched: (end) => ` AND NOT ${end.countsAsRefunded}`,
};
const SETTLED: ReadonlySet<string> = new Set(SETTLED_STATUSES);
/** Digits of a value in both stores, before and after the decimal point. */
const STORED_DIGITS = 38;

/** A filter under construction; each parameter adds its conditions. */
interface Parts {
  readonly values: unknown[];
  readonly own: string[];
  readonly outcome: Outcome[];
  readonly clickHouse: string[];
  /** Conditions on the blocks of the requests: the table `conversions` of ClickHouse has only their height. */
  readonly requestBlocks: string[];
  readonly params: Record<string, unknown>;
  isInClickHouse: boolean;
}

const place = ({ values }: Parts, value: unknown): string => `$${values.push(value)}`;

/** @throws ApiError unknown_currency, invalid_parameter */
export function conversionFilter(
  { chain, generation, filters, address }: ConversionParameters,
  currencies: Currencies,
  api: ApiContext,
): ConversionFilter {
  const parts: Parts = {
    values: [generation, chain],
    own: [CURRENT_CONVERSIONS, '$1::integer IS NOT NULL', 't.chain = $2'],
    outcome: [],
    clickHouse: [],
    requestBlocks: [],
    params: {},
    isInClickHouse: true,
  };
  const others = api.config.chains.map((configured) => configured.name).filter((other) => other !== chain);
  if (address !== null) {
    parts.own.push(ofAddress(place(parts, address), others.length > 0 ? place(parts, others) : null));
    parts.isInClickHouse = false;
  }
  for (const side of ['from', 'to', 'basket'] as const) {
    const text = filters[side];
    if (text === undefined) continue;
    const [column, columnInClickHouse] = COLUMNS[side];
    parts.params[side] = findCurrency(currencies, api, chain, text, side).currencyId;
    parts.own.push(`${column} = ${place(parts, parts.params[side])}`);
    parts.clickHouse.push(`${columnInClickHouse} = {${side}: String}`);
  }
  const { type, sort } = filters;
  if (type !== undefined) {
    parts.own.push(`t.kind = ${place(parts, type)}`);
    parts.clickHouse.push('kind = {type: String}');
    parts.params.type = type;
  }
  addStatus(parts, filters);
  addDiverged(parts, filters);
  const isValued = addValue(parts, filters);
  addExecution(parts, filters);
  addRequest(parts, filters);
  const { values, own, outcome, clickHouse, requestBlocks, params, isInClickHouse } = parts;
  // Postgres finds a range of requests by its index, so a filter of that alone uses ClickHouse only for sums.
  const isAsked = clickHouse.length > 0;
  const all = requestBlocks.length > 0 ? [...clickHouse, requestedIn(requestBlocks)] : clickHouse;
  const whenSettled = isInClickHouse ? { sql: all.join(' AND ') || 'true', params } : null;
  return {
    chain,
    values,
    conditions: own.join(' AND '),
    outcome,
    isValued,
    order: sort,
    isPlain: outcome.length === 0 && (!isAsked || !isInClickHouse),
    isOfRequest: address === null || others.length === 0,
    whenSettled,
    inClickHouse: isAsked ? whenSettled : null,
  };
}

type Filters = ConversionParameters['filters'];

function addStatus(parts: Parts, { status }: Filters): void {
  if (status === undefined) return;
  const stored = place(parts, STORED_STATUSES[status] ?? [status]);
  const decided = DECIDED_BY_STAMP[status] ?? (() => '');
  parts.outcome.push((end) => `${end.status} = ANY(${stored})${decided(end)}`);
  parts.clickHouse.push('status = {status: String}');
  parts.params.status = status;
  if (!SETTLED.has(status)) parts.isInClickHouse = false;
}

function addDiverged(parts: Parts, { diverged }: Filters): void {
  if (diverged === undefined) return;
  parts.outcome.push(({ hasDiverged: has }) => (diverged ? has : `NOT ${has}`));
  parts.clickHouse.push(diverged ? 'diverged' : 'NOT diverged');
}

/** Returns whether the filter or the order needs USD values. */
function addValue(parts: Parts, { minUsd, maxUsd, sort }: Filters): boolean {
  refuseEmptyRange(DECIMALS, ['minUsd', minUsd], ['maxUsd', maxUsd]);
  for (const [bound, value, operator] of [
    ['minUsd', minUsd, '>='],
    ['maxUsd', maxUsd, '<='],
  ] as const) {
    if (value === undefined) continue;
    const bounded = storedBound(plainDecimal(value), operator);
    if (bounded === null) {
      parts.outcome.push(() => (operator === '>=' ? 'false' : 's.usd_value IS NOT NULL'));
      parts.clickHouse.push(operator === '>=' ? 'false' : 'usd_value IS NOT NULL');
      continue;
    }
    const limit = `${place(parts, bounded)}::numeric`;
    parts.outcome.push(() => `s.usd_value ${operator} ${limit}`);
    parts.clickHouse.push(`usd_value ${operator} toDecimal256({${bound}: String}, ${STORED_DIGITS})`);
    parts.params[bound] = bounded;
  }
  if (sort === 'largest') {
    parts.outcome.push(() => 's.usd_value IS NOT NULL');
    parts.clickHouse.push('usd_value IS NOT NULL');
  }
  return minUsd !== undefined || maxUsd !== undefined || sort === 'largest';
}

/** An equivalent bound with no more digits than stored values have; null for a bound above all of them. */
export function storedBound(decimal: string, operator: '>=' | '<='): string | null {
  const [whole = '', fraction = ''] = decimal.split('.');
  const kept = fraction.slice(0, STORED_DIGITS).padEnd(STORED_DIGITS, '0');
  const isCut = /[1-9]/.test(fraction.slice(STORED_DIGITS));
  const units = BigInt(whole + kept) + (isCut && operator === '>=' ? 1n : 0n);
  const digits = units.toString().padStart(STORED_DIGITS + 1, '0');
  if (digits.length > 2 * STORED_DIGITS) return null;
  return `${digits.slice(0, -STORED_DIGITS)}.${digits.slice(-STORED_DIGITS)}`;
}

function addExecution(parts: Parts, filters: Filters): void {
  const { executedFromTime, executedToTime, executedFromHeight, executedToHeight } = filters;
  refuseEmptyRange(TIMES_BEFORE, ['executedFromTime', executedFromTime], ['executedToTime', executedToTime]);
  refuseEmptyRange(NUMBERS, ['executedFromHeight', executedFromHeight], ['executedToHeight', executedToHeight]);
  for (const [bound, operator] of [
    ['executedFromTime', '>='],
    ['executedToTime', '<'],
  ] as const) {
    const text = filters[bound];
    if (text === undefined) continue;
    const moment = Math.min(parseTime(text, bound), LAST_MOMENT);
    const limit = place(parts, moment);
    parts.outcome.push(({ time }) => `${time} ${operator} ${limit}`);
    parts.clickHouse.push(`time ${operator} toDateTime({${bound}: UInt32}, 'UTC')`);
    parts.params[bound] = moment;
  }
  for (const [bound, operator] of [
    ['executedFromHeight', '>='],
    ['executedToHeight', '<='],
  ] as const) {
    const given = filters[bound];
    if (given === undefined) continue;
    const limit = place(parts, given);
    parts.outcome.push(({ height }) => `${height} ${operator} ${limit}`);
    parts.clickHouse.push(`import_height ${operator} {${bound}: UInt32}`);
    parts.params[bound] = given;
  }
}

function addRequest(parts: Parts, filters: Filters): void {
  refuseEmptyRange(TIMES_BEFORE, ['fromTime', filters.fromTime], ['toTime', filters.toTime]);
  for (const [bound, operator] of [
    ['fromTime', '>='],
    ['toTime', '<'],
  ] as const) {
    const text = filters[bound];
    if (text === undefined) continue;
    parts.params[bound] = parseTime(text, bound);
    parts.own.push(`t.request_time ${operator} ${place(parts, parts.params[bound])}`);
    parts.requestBlocks.push(`toUnixTimestamp(time) ${operator} {${bound}: Int64}`);
  }
  parts.own.push(...heightConditions(filters, 't.request_height', parts.values));
  for (const [bound, operator] of [
    ['fromHeight', '>='],
    ['toHeight', '<='],
  ] as const) {
    if (filters[bound] === undefined) continue;
    parts.params[bound] = filters[bound];
    parts.requestBlocks.push(`height ${operator} {${bound}: UInt32}`);
  }
}

function requestedIn(blocks: readonly string[]): string {
  return `request_height IN (SELECT height FROM blocks WHERE chain = {chain: String} AND ${blocks.join(' AND ')})`;
}

/** Conversions missing in ClickHouse: open ones, and unmatched ones, except those that count as refunded and are stored as `refunded`. */
const NOT_SETTLED = `t.status IN ('pending', 'exported', 'unmatched') AND NOT (t.status = 'unmatched' AND ${HERE.countsAsRefunded})`;

/**
 * Statements `SELECT t.* … WHERE …` for all matching rows that ClickHouse does not have for the closed days, each row in exactly one of
 * them. A stamp has the key of the transfer that its own chain executes, so a join by key is enough; the few transfers that another
 * chain executes are joined with their far end.
 */
export function armsOf(
  { conditions, outcome, isValued }: ConversionFilter,
  closed: Pick<ClosedConversions, 'height'> | null,
): readonly string[] {
  const having = (end: End) => [conditions, ...outcome.map((of) => of(end))].join(' AND ');
  const ownStamp = 'JOIN stamps s ON s.generation = $1 AND s.chain = t.chain AND s.txid = t.txid AND s.vout = t.vout';
  const here = `SELECT t.* FROM transfers t ${isValued ? ownStamp : ''}
    WHERE t.import_system_id IS NULL AND ${having(HERE)}`;
  const elsewhere = `SELECT t.* FROM transfers t ${FAR_END} ${isValued ? STAMP_JOIN : ''}
    WHERE t.import_system_id IS NOT NULL AND ${having(ELSEWHERE)}`;
  if (!closed) return [here, elsewhere];
  // No later block changes a settled transfer, and its last version starts at the import.
  const young = `${here} AND t.from_height > ${closed.height}`;
  const waiting = `${here} AND t.from_height <= ${closed.height} AND ${NOT_SETTLED}`;
  return [young, waiting, elsewhere];
}

/** The sender of a transfer between chains is stored only in the row of the sending chain. */
function ofAddress(address: string, others: string | null): string {
  const own = `t.source = ${address} OR t.destination = ${address}`;
  if (others === null) return `(${own})`;
  const sentElsewhere = `e.source = ${address} AND e.chain = ANY(${others}) AND e.import_system_id IS NOT NULL AND e.to_height IS NULL`;
  // Postgres evaluates the array before the scan, so that each of the three conditions can use an index.
  return `(${own} OR t.source_system_id IS NOT NULL
    AND t.export_txid = ANY(ARRAY(SELECT e.export_txid FROM transfers e WHERE ${sentElsewhere}))
    AND EXISTS (SELECT FROM transfers e WHERE ${sentElsewhere} AND ${SAME_EXPORT}))`;
}
