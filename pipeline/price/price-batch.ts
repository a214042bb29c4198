/** Ticks that are folded but not in the stores yet. */
import type { BackfillRow } from '../../processors/pricing/backfill-fold.ts';
import type { ChainView, PricedBlock } from '../../processors/pricing/chain-view.ts';
import type { PriceFold, PriceRow, TickRows } from '../../processors/pricing/price-fold.ts';
import type { StampRow } from '../../processors/pricing/stamp.ts';
import { nextTick, takeTick } from './next-tick.ts';
import type { ChainCursor } from './price-chain.ts';
import type { TickRow } from './price-rows.ts';
import { type PublishedTick, publishedTick } from './published-ticks.ts';

export interface PriceBatch {
  readonly ticks: readonly TickRow[];
  readonly folded: readonly FoldedRows[];
}

/** Rows of one generation from the ticks of a batch. */
export interface FoldedRows {
  readonly generation: number;
  readonly prices: readonly PriceRow[];
  readonly backfill: readonly BackfillRow[];
  /** Stamps of the batch's ticks. */
  readonly stamps: readonly StampRow[];
  /** Replacements of stamps of earlier ticks. */
  readonly corrections: readonly StampRow[];
  /** Tick by tick, as each tick was when it was folded. */
  readonly publishedTicks: readonly PublishedTick[];
}

/** A fold; the folds of several generations run side by side over the same ticks. */
export interface GenerationFold {
  readonly generation: number;
  readonly fold: PriceFold;
  /** Seconds since the epoch; from here on no stamp is corrected. */
  readonly backfillEnds: number;
}

export interface BatchLimits {
  readonly maxTicks: number;
  readonly maxRows: number;
  /** Blocks that are read ahead of their ticks, for each chain. */
  readonly maxQueued: number;
  /** Nothing is folded beyond this tick. */
  readonly lastTick?: number;
}

export const BATCH_LIMITS: BatchLimits = { maxTicks: 5000, maxRows: 50_000, maxQueued: 5000 };

/** Folds the complete ticks, up to the limits, and moves the cursors past the batch. */
export async function foldBatch(
  folds: readonly GenerationFold[],
  cursors: readonly ChainCursor[],
  firstTick: number,
  limits: BatchLimits,
  yieldToEventLoop: () => Promise<void> | undefined,
): Promise<PriceBatch> {
  const ticks: TickRow[] = [];
  const gathered = folds.map(({ generation, fold }) => gather(generation, fold));
  let rows = 0;
  while (ticks.length < limits.maxTicks && rows < limits.maxRows) {
    await yieldToEventLoop();
    const next = nextTick(cursors);
    if (!next) break;
    const { block, views } = next;
    const tick = firstTick + ticks.length;
    for (const { take } of gathered) rows += rowCount(take(tick, block, views));
    takeTick(next, cursors);
    ticks.push({ tick, block });
  }
  return { ticks, folded: gathered.map(({ end }) => end()) };
}

/** Collects the rows of a fold, tick by tick. */
export function gather(generation: number, fold: PriceFold) {
  const prices: PriceRow[] = [];
  const backfill: BackfillRow[] = [];
  const publishedTicks: PublishedTick[] = [];
  const stamps = new Map<string, StampRow>();
  return {
    take(tick: number, block: PricedBlock, views: readonly ChainView[]): TickRows {
      const rows = fold.tick(tick, block, views);
      for (const row of rows.prices) prices.push(row);
      for (const row of rows.backfill) backfill.push(row);
      for (const row of rows.stamps) stamps.set(stampKey(row), row);
      publishedTicks.push(publishedTick(block, rows));
      return rows;
    },
    end(): FoldedRows {
      const corrections: StampRow[] = [];
      for (const row of fold.corrections()) {
        if (stamps.has(stampKey(row))) stamps.set(stampKey(row), row);
        else corrections.push(row);
      }
      return { generation, prices, backfill, stamps: [...stamps.values()], corrections, publishedTicks };
    },
  };
}

export function rowCount({ prices, stamps }: TickRows): number {
  return prices.length + stamps.length;
}

export function isEmpty({ ticks, folded }: PriceBatch): boolean {
  return ticks.length === 0 && folded.every(({ corrections }) => corrections.length === 0);
}

export function stampKey({ chain, transfer }: StampRow): string {
  return `${chain}:${transfer.txid}:${transfer.vout}`;
}
