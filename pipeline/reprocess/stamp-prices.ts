/** The prices by which the conversions of a tick are stamped: rows of `stamp_prices`, gathered while prices are folded. */

import { formatDecimal, STAMP_DECIMALS } from '../../domain/decimal.ts';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { CsvValue } from '../../infra/clickhouse/csv.ts';
import { isOutsideLimits } from '../../processors/pricing/backfill-bounds.ts';
import type { PriceFold } from '../../processors/pricing/price-fold.ts';
import type { QuotedPrice } from '../../processors/pricing/quoted-price.ts';
import { conversionSide } from '../../processors/pricing/stamp.ts';
import { stampInputs } from '../../processors/pricing/stamp-inputs.ts';
import type { StoredBlock } from './stored-blocks.ts';

export const STAMP_PRICE_COLUMNS = [
  'generation',
  'tick',
  'currency_id',
  'regime',
  'usd_per_satoshi',
  'price_basket',
  'is_anchor',
  'is_native',
  'is_basket',
  'limits',
  'is_outside',
  'inputs',
] as const;

const UNPRICED = JSON.stringify({ prices: [], baskets: [], anchors: [] });

/** Wraps a fold of StoredBlocks, and adds the prices that their conversions need to `rows`. */
export function gatheringStampPrices(fold: PriceFold, generation: number, rows: (readonly CsvValue[])[]): PriceFold {
  const texts = new WeakMap<QuotedPrice, string>();
  return {
    ...fold,
    tick(tick, block, views) {
      const folded = fold.tick(tick, block, views);
      const { converted } = block as StoredBlock;
      if (converted.length === 0) return folded;
      const context = fold.stampContext(block, views);
      /** Memoized, because a price stays the same for many ticks. */
      const inputsOf = (quote: QuotedPrice): string =>
        getOrInsert(texts, quote, () => {
          const { prices, baskets, anchors } = stampInputs(null, null, [quote], context.anchors);
          return JSON.stringify({ prices, baskets, anchors });
        });
      for (const currencyId of converted) {
        const side = conversionSide(currencyId, 0n, context);
        const quote = context.prices.get(currencyId);
        rows.push([
          generation,
          tick,
          currencyId,
          context.regime,
          side.price === null ? null : formatDecimal(side.price, STAMP_DECIMALS),
          side.priceBasket ?? '',
          side.isAnchor,
          side.isNative,
          side.isBasket,
          side.limits ? JSON.stringify(side.limits) : '',
          isOutsideLimits(side),
          quote ? inputsOf(quote) : UNPRICED,
        ]);
      }
      return folded;
    },
  };
}
