/** A price as it is published: the members of a row of `prices`, stored as JSON when it replaces the derived price. */
import { formatPrice, parsePrice, toPrice } from '../../domain/decimal.ts';
import type { OraclePrice } from '../../processors/pricing/oracle-prices.ts';
import type { GuardedPrice } from '../../processors/pricing/price-guard.ts';
import { rowEntries } from '../../processors/pricing/stamp-inputs.ts';

export interface PublishedPrice extends GuardedPrice {
  readonly row: PublishedRow;
}

/** Decimals as text. */
export interface PublishedRow {
  readonly tier: number;
  readonly usdPrice: string;
  readonly emaPrice: string;
  readonly totalDepth: string;
  readonly sourceBasket: string | null;
  readonly baskets: readonly unknown[];
  /** Block of the default chain at which it was computed. */
  readonly height: number;
  readonly time: number;
}

export function publishedPrice(row: PublishedRow): PublishedPrice {
  return { usd: parsePrice(row.usdPrice), row };
}

export interface PriceMoment {
  readonly height: number;
  readonly time: number;
  /** Scaled by 10^30. */
  readonly ema: bigint;
}

export function publishedFrom(price: OraclePrice, { height, time, ema }: PriceMoment): PublishedPrice {
  return publishedPrice({
    tier: price.tier,
    usdPrice: formatPrice(price.usd),
    emaPrice: formatPrice(ema),
    totalDepth: formatPrice(toPrice(price.totalDepth)),
    sourceBasket: price.sourceBasket?.basketId ?? null,
    baskets: rowEntries(price),
    height,
    time,
  });
}
