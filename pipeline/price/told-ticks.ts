/** Record of one block for the stamps topic: the changed prices, and the values of its conversions. */

import { formatDecimal, formatPrice, STAMP_DECIMALS } from '../../domain/decimal.ts';
import type { PricedBlock } from '../../processors/pricing/chain-view.ts';
import type { PriceRow, StampRow, TickRows } from '../../processors/pricing/price-fold.ts';
import type { StampList, ToldPrice, ToldStamp } from '../../schemas/log-records.ts';
import { printedPrice } from './price-rows.ts';

export interface ToldTick {
  readonly block: PricedBlock;
  readonly prices: readonly PriceRow[];
  /** At most one stamp per transfer of the block. */
  readonly stamps: readonly StampRow[];
}

export function toldTick(block: PricedBlock, { prices, stamps }: TickRows): ToldTick {
  return { block, prices: prices.filter(({ isChange }) => isChange), stamps };
}

/** The ticks of one of several generations. */
export function toldOf(
  folded: readonly { readonly generation: number; readonly told: readonly ToldTick[] }[],
  generation: number,
): readonly ToldTick[] {
  return folded.find((rows) => rows.generation === generation)?.told ?? [];
}

export function stampListOf({ block, prices, stamps }: ToldTick): StampList {
  const transfers = new Map(block.transfers.map((transfer) => [`${transfer.txid}:${transfer.vout}`, transfer]));
  return {
    prices: prices.map(toldPrice),
    stamps: stamps.flatMap((row) => {
      const transfer = transfers.get(`${row.transfer.txid}:${row.transfer.vout}`);
      return transfer ? [toldStamp(transfer, row)] : [];
    }),
  };
}

function toldPrice(row: PriceRow): ToldPrice {
  const { usd, depth } = printedPrice(row);
  return {
    currencyId: row.price.currencyId,
    tier: row.price.tier,
    usdPrice: usd,
    emaPrice: formatPrice(row.ema),
    totalDepth: depth,
    sourceBasketId: row.mark.sourceBasket,
  };
}

const usd = (scaled: bigint | null) => (scaled === null ? null : formatDecimal(scaled, STAMP_DECIMALS));

function toldStamp(transfer: PricedBlock['transfers'][number], { stamp, transfer: { status } }: StampRow): ToldStamp {
  const { regime, rule, reason, pricedCurrencyId, pricedCurrencyUsd, priceBasket, diverged, provisional } = stamp;
  return {
    ...transfer,
    status,
    regime,
    fromUsd: usd(stamp.fromUsd),
    toUsd: usd(stamp.toUsd),
    usdValue: usd(stamp.usdValue),
    rule,
    reason,
    pricedCurrencyId,
    pricedCurrencyUsd: pricedCurrencyUsd === null ? null : formatPrice(pricedCurrencyUsd),
    priceBasketId: priceBasket,
    diverged,
    provisional,
  };
}
