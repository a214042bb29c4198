/** Record of one block for the `stamps` topic: the changed prices, and the values of its conversions. */

import { formatPrice } from '../../domain/decimal.ts';
import type { PricedBlock } from '../../processors/pricing/chain-view.ts';
import type { PriceRow, TickRows } from '../../processors/pricing/price-fold.ts';
import type { StampRow } from '../../processors/pricing/stamp.ts';
import type { PriceChange, StampedConversion, StampList } from '../../schemas/log-records.ts';
import { printedPrice, printedUsd } from './price-rows.ts';

export interface PublishedTick {
  readonly block: PricedBlock;
  readonly prices: readonly PriceRow[];
  /** At most one stamp per transfer of the block. */
  readonly stamps: readonly StampRow[];
}

export function publishedTick(block: PricedBlock, { prices, stamps }: TickRows): PublishedTick {
  return { block, prices: prices.filter(({ isChange }) => isChange), stamps };
}

/** Returns the ticks of one of several generations. */
export function publishedTicksOf(
  folded: readonly { readonly generation: number; readonly publishedTicks: readonly PublishedTick[] }[],
  generation: number,
): readonly PublishedTick[] {
  return folded.find((rows) => rows.generation === generation)?.publishedTicks ?? [];
}

export function stampListOf({ block, prices, stamps }: PublishedTick): StampList {
  const transfers = new Map(block.transfers.map((transfer) => [`${transfer.txid}:${transfer.vout}`, transfer]));
  return {
    prices: prices.map(priceChangeOf),
    stamps: stamps.flatMap((row) => {
      const transfer = transfers.get(`${row.transfer.txid}:${row.transfer.vout}`);
      return transfer ? [stampedConversionOf(transfer, row)] : [];
    }),
  };
}

function priceChangeOf(row: PriceRow): PriceChange {
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

function stampedConversionOf(
  transfer: PricedBlock['transfers'][number],
  { stamp, transfer: { status } }: StampRow,
): StampedConversion {
  const { regime, rule, reason, pricedCurrencyId, pricedCurrencyUsd, priceBasket, diverged, provisional } = stamp;
  return {
    ...transfer,
    status,
    regime,
    fromUsd: printedUsd(stamp.fromUsd),
    toUsd: printedUsd(stamp.toUsd),
    usdValue: printedUsd(stamp.usdValue),
    rule,
    reason,
    pricedCurrencyId,
    pricedCurrencyUsd: pricedCurrencyUsd === null ? null : formatPrice(pricedCurrencyUsd),
    priceBasketId: priceBasket,
    diverged,
    provisional,
  };
}
