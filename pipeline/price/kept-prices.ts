/** Retention of prices in Postgres: as far back as a rewind may reach. ClickHouse keeps all prices. */
import type { PriceRow } from '../../processors/pricing/price-fold.ts';
import type { PriceChain } from './price-chain.ts';
import type { TickRow } from './price-rows.ts';

/** Number of blocks of the default chain whose prices are kept: twice the deepest rewind. */
export function keptBlocks(chain: PriceChain): number {
  return 2 * chain.finalityDepth;
}

/**
 * Returns the rows of a batch that pruning at `height` of the default chain would leave: no row of a currency before its newest row of
 * that chain at or below `height`. A long catch-up thus does not write rows that it would delete.
 */
export function keptPrices(
  ticks: readonly TickRow[],
  prices: readonly PriceRow[],
  defaultChain: string,
  height: number,
): readonly PriceRow[] {
  const horizon = ticks.findLast(({ block }) => block.chain === defaultChain && block.height <= height)?.tick;
  if (horizon === undefined) return prices;
  const first = new Map<string, number>();
  for (const { tick, block, price } of prices) {
    if (tick > horizon) break;
    if (block.chain === defaultChain) first.set(price.currencyId, tick);
  }
  return prices.filter(({ tick, price }) => tick >= (first.get(price.currencyId) ?? 0));
}
