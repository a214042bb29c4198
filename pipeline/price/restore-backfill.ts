/** Restores the open state of the backfill regime: daily prices around open bounds, and the stamps that they may change. */
import type { PoolClient } from 'pg';
import { parseDecimal, parsePrice, STAMP_DECIMALS } from '../../domain/decimal.ts';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { StampInputs } from '../../domain/stamp-inputs.ts';
import { STAMP_RULES, UNPRICED_REASONS } from '../../domain/stamps.ts';
import { SECONDS_PER_DAY, utcDay } from '../../domain/time.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { readStampInputs } from '../../infra/stored-json/stamp-inputs.ts';
import { BOUNDS_DAYS, boundsCloseAt, type DailyPrice } from '../../processors/pricing/backfill-bounds.ts';
import { isDoubtful, type OpenStamp } from '../../processors/pricing/backfill-fold.ts';
import type { SettledTransfer, Stamp, StampBasis } from '../../processors/pricing/stamp.ts';
import { sideOf } from '../../processors/pricing/stamp-inputs.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';

const readPrice = rowReader({ currency_id: columns.text, day: columns.number, usd_price: columns.text });

/** Daily prices by currency, days ascending. */
export async function restoreDaily(
  client: PoolClient,
  generation: number,
  chain: string,
  clock: number,
  backfillEnds: number,
): Promise<Map<string, DailyPrice[]>> {
  const daily = new Map<string, DailyPrice[]>();
  if (!isNeeded(clock, backfillEnds)) return daily;
  const rows = await readRows(
    client,
    readPrice,
    `SELECT DISTINCT ON (currency_id, day) currency_id, day, usd_price FROM backfill_prices
     WHERE generation = $1 AND chain = $2 AND day >= $3 ORDER BY currency_id, day, tick DESC`,
    [generation, chain, utcDay(clock) - 2 * BOUNDS_DAYS - 2],
  );
  for (const { currency_id: currencyId, day, usd_price } of rows) {
    getOrInsert(daily, currencyId, () => []).push({ day, usd: parsePrice(usd_price) });
  }
  return daily;
}

const readStamp = rowReader({
  txid: columns.text,
  vout: columns.number,
  tick: columns.bigint,
  regime_version: columns.number,
  price_height: columns.number,
  from_usd: columns.nullable(columns.text),
  to_usd: columns.nullable(columns.text),
  usd_value: columns.nullable(columns.text),
  rule: columns.choice(STAMP_RULES),
  reason: columns.nullable(columns.choice([...UNPRICED_REASONS, 'mirrored'])),
  priced_currency_id: columns.nullable(columns.text),
  priced_currency_usd: columns.nullable(columns.text),
  price_basket: columns.nullable(columns.text),
  diverged: columns.boolean,
  provisional: columns.boolean,
  /** JSON text. */
  inputs: columns.text,
  import_time: columns.bigint,
  ...storedColumns(DEFINITIONS.transfer, [
    'kind',
    'status',
    'fromCurrencyId',
    'toCurrencyId',
    'viaCurrencyId',
    'importCurrencyId',
    'amountIn',
    'amountOut',
    'conversionFee',
    'source',
    'destination',
    'requestHeight',
  ]),
});
type StampRecord = RowRead<typeof readStamp>;

/** Stamps whose bounds close after `clock`, also those that a later tick had closed before it was undone. */
export async function restoreOpenStamps(
  client: PoolClient,
  generation: number,
  chain: string,
  clock: number,
  backfillEnds: number,
): Promise<OpenStamp[]> {
  if (!isNeeded(clock, backfillEnds)) return [];
  const firstDay = utcDay(clock) - BOUNDS_DAYS;
  const rows = await readRows(
    client,
    readStamp,
    `SELECT stamps.*, transfers.kind, transfers.status, from_currency_id, to_currency_id, via_currency_id, import_currency_id,
       amount_in, amount_out, conversion_fee, source, destination, request_height, import_time
     FROM stamps JOIN transfers ON transfers.chain = stamps.chain AND transfers.txid = stamps.txid
       AND transfers.vout = stamps.vout AND transfers.from_height = stamps.price_height
     WHERE stamps.generation = $1 AND stamps.chain = $2 AND stamps.regime = 'backfill'
       AND stamps.tick > coalesce((SELECT tick FROM price_ticks WHERE clock < $3 ORDER BY tick DESC LIMIT 1), -1)
       AND stamps.tick <= (SELECT max(tick) FROM price_ticks)
     ORDER BY stamps.tick, stamps.txid, stamps.vout`,
    [generation, chain, firstDay * SECONDS_PER_DAY],
  );
  return rows
    .filter(({ import_time }) => utcDay(Number(import_time)) >= firstDay)
    .map((row) => openStamp(chain, row))
    .filter(({ basis }) => basis.kind === 'conversion' && (isDoubtful(basis.from) || isDoubtful(basis.to)));
}

function isNeeded(clock: number, backfillEnds: number): boolean {
  return clock < boundsCloseAt(utcDay(backfillEnds));
}

function openStamp(chain: string, row: StampRecord): OpenStamp {
  const { bounds: _, ...inputs } = readStampInputs(row.inputs);
  const [from, to] = [inputs.from && sideOf(inputs.from), inputs.to && sideOf(inputs.to)];
  const kind = from && to ? 'conversion' : from ? 'burn' : to ? 'mint' : 'refund';
  const height = row.price_height;
  const basis: StampBasis = { kind, regime: 'backfill', height, from, to, inputs };
  const { tick, import_time: time } = row;
  const stamp = stampOf(row, inputs);
  return { basis, row: { tick: Number(tick), chain, height, time: Number(time), transfer: transferOf(row), stamp } };
}

function stampOf(row: StampRecord, inputs: StampInputs): Stamp {
  const usd = (text: string | null) => (text === null ? null : parseDecimal(text, STAMP_DECIMALS));
  return {
    regime: 'backfill',
    regimeVersion: row.regime_version,
    priceHeight: row.price_height,
    fromUsd: usd(row.from_usd),
    toUsd: usd(row.to_usd),
    usdValue: usd(row.usd_value),
    rule: row.rule,
    reason: row.reason,
    pricedCurrencyId: row.priced_currency_id,
    pricedCurrencyUsd: row.priced_currency_usd === null ? null : parsePrice(row.priced_currency_usd),
    priceBasket: row.price_basket,
    diverged: row.diverged,
    provisional: row.provisional,
    inputs,
  };
}

function transferOf(row: StampRecord): SettledTransfer {
  return {
    txid: row.txid,
    vout: row.vout,
    kind: row.kind,
    status: row.status,
    fromCurrencyId: row.from_currency_id,
    toCurrencyId: row.to_currency_id,
    viaCurrencyId: row.via_currency_id,
    importCurrencyId: row.import_currency_id,
    amountIn: row.amount_in,
    amountOut: row.amount_out,
    conversionFee: row.conversion_fee,
    source: row.source,
    destination: row.destination,
    requestHeight: row.request_height,
  };
}
