/** Prices of currencies at the ends of blocks: the oracle's price at that block, or why there is none. */
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import { pricedHeight } from '../../state/priced-heights.ts';
import { pricedRows } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';

/**
 * block_price: the oracle's price at the end of the block, by the live regime. no_price: nothing priced the currency at the block, even if
 * it had a price before. not_priced_yet: prices have not reached the block.
 */
export const PRICE_RULES = ['block_price', 'no_price', 'not_priced_yet'] as const;
export type PriceRule = (typeof PRICE_RULES)[number];

export interface PriceThen {
  /** Decimal text; null unless the rule is `block_price`. */
  readonly usdPrice: string | null;
  readonly rule: PriceRule;
  readonly provisional: boolean;
}

export type PriceAt = (height: number, currencyId: string) => PriceThen;

const COLUMNS = 'currency_id, usd_price, tick';
const readPrice = rowReader({ currency_id: columns.text, usd_price: columns.text, tick: columns.text });

/** All ticks of the spans, so that each row is found by its key. */
const TICKS_SQL = `SELECT arrayJoin(range(span.1, span.2 + 1))
  FROM (SELECT arrayJoin(arrayZip({firsts: Array(UInt64)}, {lasts: Array(UInt64)})) AS span)`;
const IS_BEYOND =
  'arrayExists((first, last) -> tick BETWEEN first AND last, {firsts: Array(UInt64)}, {ends: Array(UInt64)})';

/**
 * A price is in force from its row on, until a block of the default chain has no price for the currency: blocks of the default chain
 * write every price, blocks of other chains only the prices they change. The cost depends only on the number of blocks and currencies.
 */
export async function pricesAtBlocks(
  read: Snapshot,
  api: ApiContext,
  chain: string,
  asked: { readonly heights: readonly number[]; readonly ids: readonly string[] },
): Promise<PriceAt> {
  const heights = [...new Set(asked.heights)];
  const ids = [...new Set(asked.ids)];
  const rows = await pricedRows(read, api);
  const line = Number(rows.params.tick);
  const last = await pricedHeight(read, chain);
  const places = await rows.placesOf(chain, heights);
  const spans = [...places.values()].flatMap(({ tick, step }) => (step === null ? [] : [{ first: step, end: tick }]));
  const params = {
    ids,
    firsts: spans.map(({ first }) => first),
    ends: spans.map(({ end }) => end),
    lasts: spans.map(({ end }) => Math.min(end, line)),
  };
  const ofIds = (condition: string) => `currency_id IN {ids: Array(String)} AND ${condition}`;
  const found =
    spans.length === 0 || ids.length === 0
      ? []
      : await api.clickhouse.rows(
          readPrice,
          `SELECT ${COLUMNS} FROM ${rows.of('prices', COLUMNS, ofIds(`tick IN (${TICKS_SQL})`), ofIds(IS_BEYOND))} ORDER BY tick`,
          { ...rows.params, ...params },
        );
  const pricesOf = Map.groupBy(found, (row) => row.currency_id);
  return (height, currencyId) => {
    const isLater = height > last;
    const { tick, step } = places.get(height) ?? { tick: 0, step: null };
    const row = pricesOf.get(currencyId)?.findLast((price) => Number(price.tick) <= tick);
    if (isLater || !row || step === null || Number(row.tick) < step)
      return { usdPrice: null, rule: isLater ? 'not_priced_yet' : 'no_price', provisional: isLater };
    return { usdPrice: row.usd_price, rule: 'block_price', provisional: tick > line };
  };
}
