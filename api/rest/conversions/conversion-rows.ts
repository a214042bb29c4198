/** A conversion in answers: the transfer, the names of its currencies and its served USD stamp. */

import { REGIMES, STAMP_RULES } from '../../../domain/stamps.ts';
import { CONVERSION_TYPES, conversionStatus } from '../../../domain/transfers.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import { coins, coinsOrNull, decimalOrNull, ratio } from '../../http/values.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { ENDS, ENDS_COLUMNS, endsAnswer, JOINED_ENDS, STAMP_JOIN } from './transfer-ends.ts';

const CONVERSION = {
  ...ENDS,
  kind: columns.choice(CONVERSION_TYPES),
  ...storedColumns(DEFINITIONS.transfer, [
    'fromCurrencyId',
    'toCurrencyId',
    'viaCurrencyId',
    'importCurrencyId',
    'amountIn',
    'conversionFee',
  ]),
  regime: columns.nullable(columns.choice(REGIMES)),
  regime_version: columns.nullable(columns.number),
  price_height: columns.nullable(columns.number),
  from_usd: columns.nullable(columns.text),
  to_usd: columns.nullable(columns.text),
  usd_value: columns.nullable(columns.text),
  rule: columns.nullable(columns.choice(STAMP_RULES)),
  priced_currency_id: columns.nullable(columns.text),
  priced_currency_usd: columns.nullable(columns.text),
  price_basket: columns.nullable(columns.text),
  diverged: columns.nullable(columns.boolean),
  provisional: columns.nullable(columns.boolean),
  stamp_reason: columns.nullable(columns.text),
};
export const readConversion = rowReader(CONVERSION);
export type ConversionRecord = RowRead<typeof readConversion>;
/** Also reads the inputs of the stamp, JSON text. */
export const readStamped = rowReader({ ...CONVERSION, inputs: columns.nullable(columns.text) });

const COLUMNS = `${ENDS_COLUMNS}, t.kind, t.from_currency_id, t.to_currency_id, t.via_currency_id, t.import_currency_id, t.amount_in,
  t.conversion_fee, s.regime, s.regime_version, s.price_height, s.from_usd, s.to_usd, s.usd_value, s.rule,
  s.priced_currency_id, s.priced_currency_usd, s.price_basket, s.diverged, s.provisional, s.reason AS stamp_reason`;

/** Condition on `transfers t` for current conversions; sends convert nothing and are left out. */
export const CURRENT_CONVERSIONS = "t.to_height IS NULL AND t.kind <> 'send'";

/** Current conversions with their ends and stamps of generation $1; `rows` are some of `transfers`. */
export function conversionsSql({ furtherColumns = '', rows = 'transfers' } = {}): string {
  return `SELECT ${COLUMNS}${furtherColumns} FROM ${rows} t ${JOINED_ENDS} ${STAMP_JOIN} WHERE ${CURRENT_CONVERSIONS}`;
}

/** A settled conversion that `price` has not reached yet still gets a stamp; an unmatched one may then count as refunded. */
function awaitsStamp(
  { status, import_chain: chain, import_height: height }: ConversionRecord,
  read: Snapshot,
): boolean {
  if (status !== 'unmatched') return status === 'completed' || status === 'refunded';
  return (read.state.priced.get(chain ?? '')?.height ?? -1) < (height ?? 0);
}

/** Members of the stamp in an answer, including the reason if there is no stamp. */
export function stampAnswer(row: ConversionRecord, read: Snapshot) {
  const status = conversionStatus(row.status);
  return {
    fromUsd: decimalOrNull(row.from_usd),
    toUsd: decimalOrNull(row.to_usd),
    usdValue: decimalOrNull(row.usd_value),
    rule: row.rule ?? 'unpriced',
    pricedCurrencyId: row.priced_currency_id,
    pricedCurrencyUsd: decimalOrNull(row.priced_currency_usd),
    diverged: row.diverged ?? false,
    provisional: row.provisional ?? awaitsStamp(row, read),
    regime: row.regime,
    regimeVersion: row.regime_version,
    priceHeight: row.price_height,
    priceBasket: row.price_basket,
    reason: row.rule === null ? (status === 'completed' ? 'not_priced_yet' : status) : row.stamp_reason,
  };
}

export function conversionAnswer(row: ConversionRecord, read: Snapshot, currencies: Currencies) {
  const { reason: stampReason, ...stamp } = stampAnswer(row, read);
  return {
    txid: row.request_txid,
    vout: row.request_vout,
    chain: row.chain,
    height: row.request_height,
    time: Number(row.request_time),
    status: conversionStatus(row.status),
    type: row.kind,
    fromCurrencyId: row.from_currency_id,
    fromCurrencyName: currencies.name(row.from_currency_id),
    toCurrencyId: row.to_currency_id,
    toCurrencyName: currencies.name(row.to_currency_id),
    viaCurrencyId: row.via_currency_id,
    viaCurrencyName: currencies.name(row.via_currency_id),
    basketId: row.import_currency_id,
    basketName: currencies.name(row.import_currency_id),
    amountIn: coins(row.amount_in),
    amountOut: coinsOrNull(row.amount_out),
    price: executedPrice(row),
    fee: coins(row.conversion_fee),
    ...stamp,
    stampReason,
    source: row.source,
    destination: row.destination,
    exportTxid: row.export_txid,
    ...endsAnswer(row, currencies),
  };
}

function executedPrice({ status, amount_in: amountIn, amount_out: amountOut }: ConversionRecord) {
  const paid = status === 'completed' && amountOut !== null && amountOut > 0n && amountIn > 0n;
  return paid ? ratio(amountOut, amountIn) : null;
}
