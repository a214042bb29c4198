/** Stamps of a stretch of ticks as Postgres keeps them: with their inputs, which only look-ups by key ask for. */

import { parseDecimal, parsePrice, STAMP_DECIMALS } from '../../domain/decimal.ts';
import type { StampInputs } from '../../domain/stamp-inputs.ts';
import { REGIMES, type Side, STAMP_RULES, UNPRICED_REASONS } from '../../domain/stamps.ts';
import { TRANSFER_STATUSES } from '../../domain/transfers.ts';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { isDoubtful } from '../../processors/pricing/backfill-fold.ts';
import { formatMedian, REGIME_VERSIONS, type Stamp } from '../../processors/pricing/stamp.ts';
import type { ConversionSide } from '../../processors/pricing/stamp-decision.ts';
import { joinedInputs } from '../../processors/pricing/stamp-inputs.ts';
import type { StoredStamp } from '../price/price-rows.ts';
import { stampedSql } from './stamping-sql.ts';

const SIDE = {
  currency_id: columns.text,
  usd_per_satoshi: columns.nullable(columns.text),
  price_basket: columns.text,
  is_anchor: columns.flag,
  is_native: columns.flag,
  is_basket: columns.flag,
  /** JSON texts. */
  limits: columns.text,
  inputs: columns.text,
  twice_median: columns.text,
  days: columns.number,
};

function columnsOf<S extends Side>(side: S) {
  const all = Object.entries(SIDE).map(([name, column]) => [`${side}_${name}`, column] as const);
  return Object.fromEntries(all) as { readonly [K in keyof typeof SIDE as `${S}_${K}`]: (typeof SIDE)[K] };
}

const readStamped = rowReader({
  ...columnsOf('from'),
  ...columnsOf('to'),
  has_from: columns.flag,
  has_to: columns.flag,
  chain: columns.text,
  txid: columns.text,
  vout: columns.number,
  tick: columns.text,
  status: columns.choice(TRANSFER_STATUSES),
  import_height: columns.number,
  amount_in: columns.text,
  amount_out: columns.nullable(columns.text),
  regime: columns.choice(REGIMES),
  from_usd: columns.nullable(columns.text),
  to_usd: columns.nullable(columns.text),
  usd_value: columns.nullable(columns.text),
  rule: columns.choice(STAMP_RULES),
  reason: columns.choice([...UNPRICED_REASONS, 'mirrored', '']),
  diverged: columns.flag,
  provisional: columns.flag,
  is_closed: columns.flag,
  /** 1: from, 2: to, 0: neither. */
  decided_by: columns.number,
});
type StampedRecord = RowRead<typeof readStamped>;

export interface CopyRange {
  readonly generation: number;
  readonly hasBackfill: boolean;
  /** Ticks, both part of it. */
  readonly low: number;
  readonly high: number;
  /** UTC day that each chain's clock has reached. */
  readonly days: ReadonlyMap<string, number>;
}

/** Computed again by the query that stamped them, since `conversions` has fewer columns. */
export async function readStamps(clickhouse: ClickHouse, range: CopyRange): Promise<StoredStamp[]> {
  const { generation, hasBackfill, low, high, days } = range;
  const rows = await clickhouse.rows(
    readStamped,
    `SELECT * FROM (${stampedSql({ hasBackfill, sideColumns: ['price_basket', 'limits', 'inputs'] })})`,
    { base: generation, generation, low, high, chains: [...days.keys()], days: [...days.values()] },
  );
  return rows.map(copiedStamp);
}

function copiedStamp(row: StampedRecord): StoredStamp {
  const { chain, txid, vout, regime, import_height: height } = row;
  const [from, to] = [sideOf(row, 'from', row.amount_in), sideOf(row, 'to', row.amount_out)];
  const decided = row.decided_by === 1 ? from : row.decided_by === 2 ? to : null;
  const usd = (text: string | null) => (text === null ? null : parseDecimal(text, STAMP_DECIMALS));
  const stamp: Stamp = {
    regime,
    regimeVersion: REGIME_VERSIONS[regime],
    priceHeight: row.status === 'refunded' ? null : height,
    fromUsd: usd(row.from_usd),
    toUsd: usd(row.to_usd),
    usdValue: usd(row.usd_value),
    rule: row.rule,
    reason: row.reason === '' ? null : row.reason,
    pricedCurrencyId: decided?.currencyId ?? null,
    pricedCurrencyUsd: decided?.price ?? null,
    priceBasket: decided?.priceBasket ?? null,
    diverged: Boolean(row.diverged),
    provisional: Boolean(row.provisional),
    inputs: inputsOf(row, from, to),
  };
  return { tick: Number(row.tick), chain, transfer: { txid, vout }, stamp };
}

function sideOf(row: StampedRecord, side: Side, amount: string | null): ConversionSide | null {
  if (!row[`has_${side}`]) return null;
  return {
    currencyId: row[`${side}_currency_id`],
    amount: BigInt(amount ?? 0),
    price: priceOf(row[`${side}_usd_per_satoshi`]),
    priceBasket: row[`${side}_price_basket`] || null,
    isAnchor: Boolean(row[`${side}_is_anchor`]),
    isNative: Boolean(row[`${side}_is_native`]),
    isBasket: Boolean(row[`${side}_is_basket`]),
    ...limitsOf(row[`${side}_limits`]),
  };
}

const limitsOf = (json: string): Pick<ConversionSide, 'limits'> => (json === '' ? {} : { limits: JSON.parse(json) });

/** A price of 30 decimals is as many units of 10^-30 as USD a satoshi is of 10^-38. */
function priceOf(usdPerSatoshi: string | null): bigint | null {
  return usdPerSatoshi === null ? null : parseDecimal(usdPerSatoshi, STAMP_DECIMALS);
}

function inputsOf(row: StampedRecord, from: ConversionSide | null, to: ConversionSide | null): StampInputs {
  const alone = [from && row.from_inputs, to && row.to_inputs].flatMap((text) => (text ? [JSON.parse(text)] : []));
  const inputs = joinedInputs(from, to, alone);
  const isClosed = row.regime === 'backfill' && from && to && (isDoubtful(from) || isDoubtful(to)) && row.is_closed;
  if (!isClosed) return inputs;
  const sides = [
    ['from', from],
    ['to', to],
  ] as const;
  const bounds = sides.flatMap(([side, of]) => {
    const days = row[`${side}_days`];
    if (!isDoubtful(of) || days === 0) return [];
    return [[of.currencyId, { median: formatMedian(parsePrice(row[`${side}_twice_median`])), days }] as const];
  });
  return { ...inputs, bounds: Object.fromEntries(bounds) };
}
