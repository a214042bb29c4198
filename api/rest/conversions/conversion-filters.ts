/** Filters of a list of conversions, as conditions for Postgres and, where possible, for ClickHouse. */

import { plainDecimal } from '../../../domain/decimal.ts';
import type { TransferStatus } from '../../../domain/transfers.ts';
import { CONVERSION_STATUSES, CONVERSION_TYPES } from '../../../domain/transfers.ts';
import type { ApiContext } from '../../api-context.ts';
import { type ParameterValues, queryParameter } from '../../http/parameters.ts';
import { parseTime, TIME } from '../../http/time-parameter.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { writtenDecimal } from '../../schema/written-decimal.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import { findCurrency } from '../currencies/routes.ts';
import { type ClosedCondition, type ClosedConversions, SETTLED_STATUSES } from './closed-conversions.ts';
import { CURRENT_CONVERSIONS } from './conversion-rows.ts';
import { STATUS_MEANINGS } from './schema.ts';
import { countsAsRefunded, FAR_END, SAME_EXPORT, STAMP_JOIN, STORED_STATUS_SQL } from './transfer-ends.ts';

export const filterParameters = {
  from: queryParameter('From currency: name or i-address', writtenName),
  to: queryParameter('To currency: name or i-address', writtenName),
  basket: queryParameter('Basket that executes it: name or i-address', writtenName),
  status: queryParameter(STATUS_MEANINGS, { type: 'string', enum: CONVERSION_STATUSES }),
  type: queryParameter('Type', { type: 'string', enum: CONVERSION_TYPES }),
  minUsd: queryParameter('Least USD value, compared digit by digit', writtenDecimal),
  maxUsd: queryParameter('Greatest USD value, compared digit by digit', writtenDecimal),
  fromTime: queryParameter('Requested at or after: ISO 8601 or seconds since the epoch', TIME),
  toTime: queryParameter('Requested before: ISO 8601 or seconds since the epoch', TIME),
  sort: queryParameter('Order by the request', { type: 'string', enum: ['newest'], default: 'newest' }),
};

export interface ConversionParameters {
  readonly chain: string;
  readonly generation: number;
  readonly filters: ParameterValues<typeof filterParameters>;
  /** Sent or received by it. */
  readonly address: string | null;
}

export interface ConversionFilter {
  readonly chain: string;
  /** Values of the statements in Postgres; the first two are generation and chain. */
  readonly values: readonly unknown[];
  /** Conditions on the request, over rows of `transfers t`. */
  readonly conditions: string;
  /** Conditions on the outcome. */
  readonly outcome: readonly Outcome[];
  readonly isValued: boolean;
  /** Whether `conditions` are the whole filter, and an index finds the rows or few are left out. */
  readonly isPlain: boolean;
  /** Whether `conditions` depend on the request row alone, and so never change. */
  readonly isOfRequest: boolean;
  /** All of it for settled conversions; null where ClickHouse does not know. */
  readonly whenSettled: ClosedCondition | null;
  /** The same; null as well where Postgres alone finds the rows. */
  readonly inClickHouse: ClosedCondition | null;
}

/** SQL of a transfer's end: its status, and whether its stamp counts it as refunded. */
interface End {
  readonly status: string;
  readonly countsAsRefunded: string;
}

const HERE: End = { status: 't.status', countsAsRefunded: countsAsRefunded('t') };
const ELSEWHERE: End = { status: STORED_STATUS_SQL, countsAsRefunded: countsAsRefunded('far') };

/** A condition on an end. */
type Outcome = (end: End) => string;

const COLUMNS = {
  from: ['t.from_currency_id', 'from_currency_id'],
  to: ['t.to_currency_id', 'to_currency_id'],
  basket: ['t.import_currency_id', 'basket_id'],
} as const;

/** Stored statuses of each served one. To its sender a conversion is pending until it is executed. */
const STORED_STATUSES: Readonly<Record<string, readonly TransferStatus[]>> = {
  pending: ['pending', 'exported'],
  refunded: ['refunded', 'unmatched'],
};
/** Which of these are meant, where the stamp decides. */
const DECIDED_BY_STAMP: Readonly<Record<string, Outcome>> = {
  refunded: (end) => ` AND (${end.status} <> 'unmatched' OR ${end.countsAsRefunded})`,
  unmatched: (end) => ` AND NOT ${end.countsAsRefunded}`,
};
const SETTLED: ReadonlySet<string> = new Set(SETTLED_STATUSES);
/** Largest value of ClickHouse's decimals. */
const STORABLE = /^\d{1,38}(\.\d{1,38})?$/;

/** @throws ApiError unknown_currency, invalid_parameter */
export function conversionFilter(
  { chain, generation, filters, address }: ConversionParameters,
  currencies: Currencies,
  api: ApiContext,
): ConversionFilter {
  const values: unknown[] = [generation, chain];
  const given = (value: unknown): string => {
    values.push(value);
    return `$${values.length}`;
  };
  const own = [CURRENT_CONVERSIONS, '$1::integer IS NOT NULL', 't.chain = $2'];
  const outcome: Outcome[] = [];
  const clickHouse: string[] = [];
  const params: Record<string, unknown> = {};
  let isInClickHouse = true;

  const others = api.config.chains.map((configured) => configured.name).filter((other) => other !== chain);
  if (address !== null) {
    own.push(ofAddress(given(address), others.length > 0 ? given(others) : null));
    isInClickHouse = false;
  }
  for (const side of ['from', 'to', 'basket'] as const) {
    const text = filters[side];
    if (text === undefined) continue;
    const [column, columnInClickHouse] = COLUMNS[side];
    params[side] = findCurrency(currencies, api, chain, text, side).currencyId;
    own.push(`${column} = ${given(params[side])}`);
    clickHouse.push(`${columnInClickHouse} = {${side}: String}`);
  }
  const { status, type, minUsd, maxUsd, fromTime, toTime } = filters;
  if (type !== undefined) {
    own.push(`t.kind = ${given(type)}`);
    clickHouse.push('kind = {type: String}');
    params.type = type;
  }
  const times: string[] = [];
  for (const [bound, text, operator] of [
    ['fromTime', fromTime, '>='],
    ['toTime', toTime, '<'],
  ] as const) {
    if (text === undefined) continue;
    params[bound] = parseTime(text, bound);
    own.push(`t.request_time ${operator} ${given(params[bound])}`);
    times.push(`toUnixTimestamp(time) ${operator} {${bound}: Int64}`);
  }
  if (status !== undefined) {
    const stored = given(STORED_STATUSES[status] ?? [status]);
    const decided = DECIDED_BY_STAMP[status] ?? (() => '');
    outcome.push((end) => `${end.status} = ANY(${stored})${decided(end)}`);
    clickHouse.push('status = {status: String}');
    params.status = status;
    if (!SETTLED.has(status)) isInClickHouse = false;
  }
  for (const [bound, value, operator] of [
    ['minUsd', minUsd, '>='],
    ['maxUsd', maxUsd, '<='],
  ] as const) {
    if (value === undefined) continue;
    const bounded = plainDecimal(value);
    const limit = `${given(bounded)}::numeric`;
    outcome.push(() => `s.usd_value ${operator} ${limit}`);
    clickHouse.push(`usd_value ${operator} toDecimal256({${bound}: String}, 38)`);
    params[bound] = bounded;
    if (!STORABLE.test(bounded)) isInClickHouse = false;
  }
  // Postgres finds a span by its index, so alone it is not asked of ClickHouse, but for sums.
  const isAsked = clickHouse.length > 0;
  if (times.length > 0) clickHouse.push(requestedIn(times));
  const whenSettled = isInClickHouse ? { sql: clickHouse.join(' AND ') || 'true', params } : null;
  return {
    chain,
    values,
    conditions: own.join(' AND '),
    outcome,
    isValued: minUsd !== undefined || maxUsd !== undefined,
    isPlain: outcome.length === 0 && (!isAsked || !isInClickHouse),
    isOfRequest: address === null || others.length === 0,
    whenSettled,
    inClickHouse: isAsked ? whenSettled : null,
  };
}

function requestedIn(times: readonly string[]): string {
  return `request_height IN (SELECT height FROM blocks WHERE chain = {chain: String} AND ${times.join(' AND ')})`;
}

/** Whether it includes statuses that change, or that ClickHouse lacks: it stores conversions that count as refunded as `refunded`. */
const NOT_SETTLED = `t.status IN ('pending', 'exported', 'unmatched') AND NOT (t.status = 'unmatched' AND ${HERE.countsAsRefunded})`;

/**
 * What the filter shows beyond what ClickHouse has of the closed days, each row in one of these: `SELECT t.* … WHERE …`. A stamp
 * has the key of the transfer that its chain executes, so here the values lead to the transfers; of the few that another chain
 * executes each is joined with its far end.
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
  // No later block changes a settled transfer: its version begins at the import.
  const young = `${here} AND t.from_height > ${closed.height}`;
  const waiting = `${here} AND t.from_height <= ${closed.height} AND ${NOT_SETTLED}`;
  return [young, waiting, elsewhere];
}

/** Only the row of the sending chain knows the sender of a transfer between chains. */
function ofAddress(address: string, others: string | null): string {
  const own = `t.source = ${address} OR t.destination = ${address}`;
  if (others === null) return `(${own})`;
  const sentElsewhere = `e.source = ${address} AND e.chain = ANY(${others}) AND e.import_system_id IS NOT NULL AND e.to_height IS NULL`;
  // The array is known before the scan, so that each of the three ways has its index.
  return `(${own} OR t.source_system_id IS NOT NULL
    AND t.export_txid = ANY(ARRAY(SELECT e.export_txid FROM transfers e WHERE ${sentElsewhere}))
    AND EXISTS (SELECT FROM transfers e WHERE ${sentElsewhere} AND ${SAME_EXPORT}))`;
}
