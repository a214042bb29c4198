/**
 * Beyond the line that the clocks of all chains have passed: prices and stamps of the blocks that are there, made by a copy of
 * the fold. They are shown as provisional until their ticks come, and made anew whenever something was added or taken away.
 */
import type { PricedBlock } from '../../processors/pricing/chain-view.ts';
import type { PriceRow, StampRow } from '../../processors/pricing/price-fold.ts';
import { nextTick, takeTick } from './next-tick.ts';
import type { GenerationFold } from './price-batch.ts';
import type { ChainCursor } from './price-chain.ts';
import { type ToldTick, toldTick } from './told-ticks.ts';

export interface Ahead {
  /** The queues that it was made of. */
  readonly of: string;
  readonly folded: readonly AheadRows[];
  /** Newest block of each chain that has any. */
  readonly tips: readonly PricedBlock[];
}

export interface AheadRows {
  readonly generation: number;
  /** Of each currency the newest one, and the newest one of the default chain, which made the step of the average. */
  readonly prices: readonly PriceRow[];
  readonly stamps: readonly StampRow[];
  /** Tick by tick, as if they were complete. */
  readonly told: readonly ToldTick[];
}

/** The same text, the same rows. */
export function placeOfQueues(cursors: readonly ChainCursor[], newestTick: number): string {
  return [newestTick, ...cursors.map(({ queue }) => queue.at(-1)?.position ?? '')].join();
}

/** Cursors and folds stay where they are. Nothing where a rewind is still to be read. */
export async function foldAhead(
  folds: readonly GenerationFold[],
  cursors: readonly ChainCursor[],
  firstTick: number,
  breathe: () => Promise<void> | undefined,
): Promise<Omit<Ahead, 'of'>> {
  const copies = cursors.map((cursor) => ({ ...cursor, queue: [...cursor.queue] }));
  const defaultChain = cursors[0]?.chain.name;
  const tips = new Map<string, PricedBlock>();
  const made = folds.map(({ generation, fold }) => ({
    generation,
    fold: fold.copy(),
    prices: new Map<string, PriceRow>(),
    stamps: [] as StampRow[],
    told: [] as ToldTick[],
  }));
  for (let tick = firstTick; ; tick++) {
    await breathe();
    const next = nextTick(copies, true);
    if (!next) break;
    const { block, views } = next;
    for (const { fold, prices, stamps, told } of made) {
      const rows = fold.tick(tick, block, views);
      told.push(toldTick(block, rows));
      for (const row of rows.prices) {
        prices.set(row.price.currencyId, row);
        if (block.chain === defaultChain) prices.set(`step ${row.price.currencyId}`, row);
      }
      for (const row of rows.stamps) stamps.push({ ...row, stamp: { ...row.stamp, provisional: true } });
    }
    takeTick(next, copies);
    tips.set(block.chain, block);
  }
  return {
    tips: [...tips.values()],
    folded: made.map(({ generation, prices, stamps, told }) => {
      return { generation, prices: [...new Set(prices.values())], stamps, told };
    }),
  };
}
