/** What currencies were worth at the ends of blocks: the oracle's price then, or that there was none. */
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import { pricedRows } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';

/**
 * block_price: the oracle's at the end of the block, as the live regime has it. no_price: nothing priced the currency there.
 * not_priced_yet: prices have not come as far as the block.
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

const readTick = rowReader({ height: columns.number, tick: columns.bigint });
const TICKS_SQL =
  'SELECT height, max(tick) AS tick FROM price_ticks WHERE chain = $1 AND height = ANY($2) GROUP BY height';

const COLUMNS = 'currency_id, usd_price, chain, height, tick';
const readPrice = rowReader({
  currency_id: columns.text,
  usd_price: columns.text,
  height: columns.number,
  tick: columns.text,
});

/** Each price is found by its key, so that the cost follows the number of heights and currencies alone. */
export async function pricesAtBlocks(
  read: Snapshot,
  api: ApiContext,
  chain: string,
  asked: { readonly heights: readonly number[]; readonly ids: readonly string[] },
): Promise<PriceAt> {
  const heights = [...new Set(asked.heights)];
  const ids = [...new Set(asked.ids)];
  const rows = await pricedRows(read, api);
  const ticks = heights.length === 0 ? [] : await read.rows(readTick, TICKS_SQL, [chain, heights]);
  const { priced, pricedAhead } = read.state;
  const last = Math.max(priced.get(chain)?.height ?? -1, pricedAhead.get(chain)?.height ?? -1);
  const isWanted = 'currency_id IN {ids: Array(String)} AND tick IN {ticks: Array(UInt64)}';
  const isBeyond =
    'currency_id IN {ids: Array(String)} AND chain = {chain: String} AND height IN {heights: Array(UInt32)}';
  const found =
    heights.length === 0 || ids.length === 0
      ? []
      : await api.clickhouse.rows(
          readPrice,
          `SELECT currency_id, usd_price, height, tick FROM ${rows.of('prices', COLUMNS, isWanted, isBeyond)}`,
          { ...rows.params, ids, ticks: ticks.map(({ tick }) => Number(tick)), chain, heights },
        );
  const prices = new Map(found.map((row) => [`${row.height} ${row.currency_id}`, row]));
  return (height, currencyId) => {
    const row = prices.get(`${height} ${currencyId}`);
    if (!row)
      return { usdPrice: null, rule: height > last ? 'not_priced_yet' : 'no_price', provisional: height > last };
    return { usdPrice: row.usd_price, rule: 'block_price', provisional: BigInt(row.tick) > BigInt(rows.params.tick) };
  };
}
