/** Ticks that are folded and not yet in the stores. */
import type { BackfillRow } from '../../processors/pricing/backfill-fold.ts';
import type { PriceFold, PriceRow, StampRow } from '../../processors/pricing/price-fold.ts';
import { nextTick, takeTick } from './next-tick.ts';
import type { ChainCursor } from './price-chain.ts';
import type { TickRow } from './price-rows.ts';

export interface PriceBatch {
  readonly ticks: readonly TickRow[];
  readonly prices: readonly PriceRow[];
  readonly backfill: readonly BackfillRow[];
  /** Stamps of the batch's ticks. */
  readonly stamps: readonly StampRow[];
  /** Stamps of earlier ticks that are to be replaced. */
  readonly corrections: readonly StampRow[];
}

export interface BatchLimits {
  readonly maxTicks: number;
  readonly maxRows: number;
  /** Blocks that are read ahead of their ticks, for each chain. */
  readonly maxQueued: number;
  /** Nothing is folded beyond it. */
  readonly lastTick?: number;
}

/** Folds what is complete, at most up to the limits. The cursors then stand after the batch. */
export async function foldBatch(
  fold: PriceFold,
  cursors: readonly ChainCursor[],
  firstTick: number,
  limits: BatchLimits,
  breathe: () => Promise<void> | undefined,
): Promise<PriceBatch> {
  const ticks: TickRow[] = [];
  const prices: PriceRow[] = [];
  const backfill: BackfillRow[] = [];
  const stamps = new Map<string, StampRow>();
  while (ticks.length < limits.maxTicks && prices.length + stamps.size < limits.maxRows) {
    await breathe();
    const next = nextTick(cursors);
    if (!next) break;
    const { block, views } = next;
    const tick = firstTick + ticks.length;
    const rows = fold.tick(tick, block, views);
    takeTick(next, cursors);
    ticks.push({ tick, block });
    for (const row of rows.prices) prices.push(row);
    for (const row of rows.backfill) backfill.push(row);
    for (const row of rows.stamps) stamps.set(stampKey(row), row);
  }
  const corrections: StampRow[] = [];
  for (const row of fold.corrections()) {
    if (stamps.has(stampKey(row))) stamps.set(stampKey(row), row);
    else corrections.push(row);
  }
  return { ticks, prices, backfill, stamps: [...stamps.values()], corrections };
}

export function isEmpty(batch: PriceBatch): boolean {
  return batch.ticks.length === 0 && batch.corrections.length === 0;
}

function stampKey({ chain, transfer }: StampRow): string {
  return `${chain}:${transfer.txid}:${transfer.vout}`;
}
