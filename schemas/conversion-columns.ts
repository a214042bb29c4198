/** Columns of `conversions` in ClickHouse. */

/** Columns that no stamp changes. */
export const CONVERSION_FACT_COLUMNS = [
  'chain',
  'txid',
  'vout',
  'tick',
  'kind',
  'status',
  'from_currency_id',
  'to_currency_id',
  'via_currency_id',
  'basket_id',
  'amount_in',
  'amount_out',
  'conversion_fee',
  'source',
  'destination',
  'request_height',
  'import_height',
  'time',
] as const;

/** Columns of a generation's stamp. */
export const CONVERSION_STAMP_COLUMNS = [
  'from_usd',
  'to_usd',
  'usd_value',
  'rule',
  'regime',
  'diverged',
  'provisional',
  'reason',
] as const;
