/**
 * Stamps of a stretch of ticks as Postgres keeps them, with their inputs, which only look-ups by key need. ClickHouse prints them as
 * the text that COPY reads, so no row becomes an object in this process.
 */
import type { PoolClient } from 'pg';
import { SATOSHIS_PER_COIN } from '../../domain/satoshi.ts';
import type { Side } from '../../domain/stamps.ts';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import { copyText } from '../../infra/postgres/copy.ts';
import { REGIME_VERSIONS } from '../../processors/pricing/stamp.ts';
import { ofGeneration, POSTGRES_STAMPS } from '../price/price-rows.ts';
import { stampedSql } from './stamping-sql.ts';
import type { Ticks } from './stretches.ts';

export interface CopyRange extends Ticks {
  readonly generation: number;
  readonly hasBackfill: boolean;
  /** UTC day that each chain's clock has reached. */
  readonly days: ReadonlyMap<string, number>;
}

const SIDES: readonly Side[] = ['from', 'to'];
const AMOUNT: Readonly<Record<Side, string>> = { from: 'amount_in', to: 'ifNull(amount_out, 0)' };
/** Lists of `inputs` of stamp_prices, one text per element. */
const LISTS = ['prices', 'baskets', 'anchors'] as const;

/** The column of the side that decided; NULL when none did. */
const ofDecider = (column: string) =>
  `multiIf(${SIDES.map((side, index) => `decided_by = ${index + 1}, ${side}_${column}`).join(', ')}, NULL)`;
const flag = (column: string) => `if(${column}, 'true', 'false')`;
const quoted = (text: string) => `concat('"', ${text}, '"')`;
const orNull = (text: string) => `ifNull(${text}, 'null')`;

/** Prints a side like sideInput of processors/pricing/stamp-inputs.ts. */
function sideJson(side: Side): string {
  const members = {
    currencyId: quoted(`${side}_currency_id`),
    amount: quoted(`toString(${AMOUNT[side]})`),
    // USD per satoshi, with 38 decimals, becomes a price with 30.
    usd: orNull(quoted(`toString(${side}_usd_per_satoshi * ${SATOSHIS_PER_COIN})`)),
    priceBasket: `if(${side}_price_basket = '', 'null', ${quoted(`${side}_price_basket`)})`,
    isAnchor: flag(`${side}_is_anchor`),
    isNative: flag(`${side}_is_native`),
    isBasket: flag(`${side}_is_basket`),
  };
  const texts = Object.entries(members).map(([name, text]) => `'"${name}":', ${text}`);
  const limits = `if(${side}_limits = '', '', concat(',"limits":', ${side}_limits))`;
  return `if(has_${side}, concat('{', ${texts.join(", ',', ")}, ${limits}, '}'), 'null')`;
}

/** Gathers a list for both sides, like stampInputs there: an entry that both sides name is the same text within a tick. */
function listJson(list: (typeof LISTS)[number]): string {
  const both = `arrayDistinct(arrayConcat(${SIDES.map((side) => `${side}_lists.${list}`).join(', ')}))`;
  return list === 'anchors' ? `arrayMap(id -> ${quoted('id')}, arraySort(${both}))` : both;
}

/** The medians that bounded a closed stamp. */
function boundsJson(): string {
  const bounds = SIDES.map((side) => {
    const median = quoted(`toString(${side}_twice_median * toDecimal32('0.5', 1))`);
    const text = `concat('"', ${side}_currency_id, '":{"median":', ${median}, ',"days":', toString(${side}_days), '}')`;
    return `if(${side}_doubtful AND ${side}_days > 0, [${text}], [])`;
  });
  return `if(is_closed AND (from_doubtful OR to_doubtful),
    concat(',"bounds":{', arrayStringConcat(arrayConcat(${bounds.join(', ')}), ','), '}'), '')`;
}

const INPUTS = `concat('{"from":', ${sideJson('from')}, ',"to":', ${sideJson('to')},
  ${LISTS.map((list) => `',"${list}":[', arrayStringConcat(${listJson(list)}, ','), ']'`).join(', ')}, ${boundsJson()}, '}')`;

const VALUES: Readonly<Record<string, string>> = {
  generation: '{generation:UInt32}',
  txid: `concat('\\\\x', txid)`,
  regime_version: `multiIf(${Object.entries(REGIME_VERSIONS).map(([regime, version]) => `regime = '${regime}', ${version}`)}, NULL)`,
  price_height: `if(status = 'refunded', NULL, import_height)`,
  priced_currency_id: ofDecider('currency_id'),
  priced_currency_usd: ofDecider(`usd_per_satoshi * ${SATOSHIS_PER_COIN}`),
  price_basket: `nullIf(${ofDecider('price_basket')}, '')`,
  reason: `nullIf(reason, '')`,
  inputs: INPUTS,
};
const STAMPS = ofGeneration(POSTGRES_STAMPS, 0);

/** Computes the stamps again with the query that stamped them, because `conversions` has fewer columns. */
export function readStamps(clickhouse: ClickHouse, range: CopyRange): Promise<readonly Uint8Array[]> {
  const { generation, hasBackfill, low, high, days } = range;
  const lists = SIDES.map(
    (side) =>
      `JSONExtract(if(has_${side}, ${side}_inputs, ''), 'Tuple(${LISTS.map((list) => `${list} Array(String)`)})') AS ${side}_lists`,
  );
  const stamped = stampedSql({ hasBackfill, sideColumns: ['price_basket', 'limits', 'inputs'] });
  return clickhouse.tabSeparated(
    `SELECT ${STAMPS.columns.map((name) => VALUES[name] ?? name).join(', ')} FROM (SELECT *, ${lists.join(', ')} FROM (${stamped}))`,
    { base: generation, generation, low, high, chains: [...days.keys()], days: [...days.values()] },
  );
}

/** Writes the stamps in the caller's transaction; resolves to their number. */
export function writeStamps(client: PoolClient, text: readonly Uint8Array[]): Promise<number> {
  return copyText(client, STAMPS.name, STAMPS.columns, text);
}
