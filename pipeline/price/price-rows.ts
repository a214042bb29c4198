/** Rows of the price stage for both stores. */

import { formatDecimal, formatPrice, STAMP_DECIMALS } from '../../domain/decimal.ts';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { CsvValue } from '../../infra/clickhouse/csv.ts';
import type { CopyValue } from '../../infra/postgres/copy.ts';
import type { BackfillRow } from '../../processors/pricing/backfill-fold.ts';
import type { PricedBlock } from '../../processors/pricing/chain-view.ts';
import type { OraclePrice } from '../../processors/pricing/oracle-prices.ts';
import type { PriceRow } from '../../processors/pricing/price-fold.ts';
import type { SettledTransfer, StampRow } from '../../processors/pricing/stamp.ts';
import { rowEntries } from '../../processors/pricing/stamp-inputs.ts';
import type { AheadTable } from '../../schemas/ahead-runs.ts';

export interface TickRow {
  readonly tick: number;
  readonly block: PricedBlock;
}

interface Table<Row, Value> {
  readonly name: string;
  readonly columns: readonly string[];
  readonly values: (row: Row) => readonly Value[];
}

function table<Row, Value>(name: string, columns: Readonly<Record<string, (row: Row) => Value>>): Table<Row, Value> {
  const values = Object.values(columns);
  return { name, columns: Object.keys(columns), values: (row) => values.map((value) => value(row)) };
}

/** The table for the rows of one generation. */
export function ofGeneration<Row, Value>(
  { name, columns, values }: Table<Row, Value | number>,
  generation: number,
): Table<Row, Value | number> {
  return { name, columns: ['generation', ...columns], values: (row) => [generation, ...values(row)] };
}

export const printedUsd = (scaled: bigint | null): string | null =>
  scaled === null ? null : formatDecimal(scaled, STAMP_DECIMALS);

interface PrintedPrice {
  readonly usd: string;
  readonly depth: string;
  readonly baskets: { readonly json: string };
}

const printedPrices = new WeakMap<OraclePrice, PrintedPrice>();

/** Memoized, because a price stays the same for many ticks. */
export function printedPrice({ price, mark }: PriceRow): PrintedPrice {
  return getOrInsert(printedPrices, price, () => ({
    usd: formatPrice(mark.usd),
    depth: formatPrice(mark.totalDepth),
    baskets: { json: JSON.stringify(rowEntries(price)) },
  }));
}

export const POSTGRES_TICKS = table<TickRow, CopyValue>('price_ticks', {
  tick: ({ tick }) => tick,
  chain: ({ block }) => block.chain,
  height: ({ block }) => block.height,
  hash: ({ block }) => ({ hex: block.hash }),
  clock: ({ block }) => block.clock,
  facts_position: ({ block }) => block.position,
});

const PRICE = {
  currency_id: ({ price }: PriceRow) => price.currencyId,
  tick: ({ tick }: PriceRow) => tick,
  chain: ({ block }: PriceRow) => block.chain,
  height: ({ block }: PriceRow) => block.height,
  time: ({ block }: PriceRow) => block.time,
  tier: ({ price }: PriceRow) => price.tier,
  usd_price: (row: PriceRow) => printedPrice(row).usd,
  ema_price: ({ ema }: PriceRow) => formatPrice(ema),
  total_depth: (row: PriceRow) => printedPrice(row).depth,
};

export const POSTGRES_PRICES = table<PriceRow, CopyValue>('prices', {
  ...PRICE,
  source_basket: ({ mark }) => mark.sourceBasket,
  baskets: (row) => printedPrice(row).baskets,
});

export const CLICKHOUSE_PRICES = table<PriceRow, CsvValue>('prices', {
  ...PRICE,
  source_basket: ({ mark }) => mark.sourceBasket ?? '',
  baskets: (row) => printedPrice(row).baskets.json,
});

/** Columns of a stamp in Postgres, apart from the transfer's own. */
export interface StoredStamp extends Pick<StampRow, 'tick' | 'chain' | 'stamp'> {
  readonly transfer: Pick<SettledTransfer, 'txid' | 'vout'>;
}

export const POSTGRES_STAMPS = table<StoredStamp, CopyValue>('stamps', {
  chain: ({ chain }) => chain,
  txid: ({ transfer }) => ({ hex: transfer.txid }),
  vout: ({ transfer }) => transfer.vout,
  tick: ({ tick }) => tick,
  regime: ({ stamp }) => stamp.regime,
  regime_version: ({ stamp }) => stamp.regimeVersion,
  price_height: ({ stamp }) => stamp.priceHeight,
  from_usd: ({ stamp }) => printedUsd(stamp.fromUsd),
  to_usd: ({ stamp }) => printedUsd(stamp.toUsd),
  usd_value: ({ stamp }) => printedUsd(stamp.usdValue),
  rule: ({ stamp }) => stamp.rule,
  priced_currency_id: ({ stamp }) => stamp.pricedCurrencyId,
  priced_currency_usd: ({ stamp }) => (stamp.pricedCurrencyUsd === null ? null : formatPrice(stamp.pricedCurrencyUsd)),
  price_basket: ({ stamp }) => stamp.priceBasket,
  diverged: ({ stamp }) => stamp.diverged,
  provisional: ({ stamp }) => stamp.provisional,
  reason: ({ stamp }) => stamp.reason,
  inputs: ({ stamp }) => ({ json: JSON.stringify(stamp.inputs) }),
});

export const CLICKHOUSE_CONVERSIONS = table<StampRow, CsvValue>('conversions', {
  chain: ({ chain }) => chain,
  txid: ({ transfer }) => transfer.txid,
  vout: ({ transfer }) => transfer.vout,
  tick: ({ tick }) => tick,
  kind: ({ transfer }) => transfer.kind,
  status: ({ transfer }) => transfer.status,
  from_currency_id: ({ transfer }) => transfer.fromCurrencyId ?? '',
  to_currency_id: ({ transfer }) => transfer.toCurrencyId,
  via_currency_id: ({ transfer }) => transfer.viaCurrencyId ?? '',
  basket_id: ({ transfer }) => transfer.importCurrencyId,
  amount_in: ({ transfer }) => transfer.amountIn,
  amount_out: ({ transfer }) => transfer.amountOut,
  conversion_fee: ({ transfer }) => transfer.conversionFee,
  source: ({ transfer }) => transfer.source ?? '',
  destination: ({ transfer }) => transfer.destination ?? '',
  request_height: ({ transfer }) => transfer.requestHeight,
  import_height: ({ height }) => height,
  time: ({ time }) => time,
  from_usd: ({ stamp }) => printedUsd(stamp.fromUsd),
  to_usd: ({ stamp }) => printedUsd(stamp.toUsd),
  usd_value: ({ stamp }) => printedUsd(stamp.usdValue),
  rule: ({ stamp }) => stamp.rule,
  regime: ({ stamp }) => stamp.regime,
  diverged: ({ stamp }) => stamp.diverged,
  provisional: ({ stamp }) => stamp.provisional,
  reason: ({ stamp }) => stamp.reason ?? '',
});

/** Table of prices beyond the complete line; `run` and `generation` precede these columns. */
export const CLICKHOUSE_PRICES_AHEAD: ClickHousePriceTable<PriceRow> & { readonly name: AheadTable } = {
  name: 'prices_ahead',
  columns: [...CLICKHOUSE_PRICES.columns, 'clock'],
  values: (row) => [...CLICKHOUSE_PRICES.values(row), row.block.clock],
};

export const CLICKHOUSE_CONVERSIONS_AHEAD: ClickHousePriceTable<StampRow> & { readonly name: AheadTable } = {
  ...CLICKHOUSE_CONVERSIONS,
  name: 'conversions_ahead',
};

export const POSTGRES_BACKFILL = table<BackfillRow, CopyValue>('backfill_prices', {
  chain: ({ chain }) => chain,
  currency_id: ({ currencyId }) => currencyId,
  tick: ({ tick }) => tick,
  day: ({ day }) => day,
  usd_price: ({ usd }) => formatPrice(usd),
});

export type PostgresPriceTable<Row> = Table<Row, CopyValue>;
export type ClickHousePriceTable<Row> = Table<Row, CsvValue>;
