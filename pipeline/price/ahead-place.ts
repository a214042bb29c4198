/** A position in the order of all provisional blocks: the state of every chain and fold after a tick. */
import type { PriceFold, PriceRow } from '../../processors/pricing/price-fold.ts';
import type { AheadTip } from './ahead-change.ts';
import type { GenerationFold } from './price-batch.ts';
import { type ChainCursor, newestClock } from './price-chain.ts';

export interface AheadFoldAt {
  readonly generation: number;
  readonly fold: PriceFold;
  /** Beyond the line: each currency's newest row, and the row of its newest step of the average. */
  readonly current: Map<string, PriceRow>;
}

export interface AheadPlace {
  readonly cursors: readonly AheadCursor[];
  readonly folds: readonly AheadFoldAt[];
  /** By chain: the newest block beyond the line. */
  readonly tips: Map<string, AheadTip>;
  /** The newest folded tick. */
  tick: number;
  /** Clock of that tick. The position is invalid once a block with a clock up to here arrives or leaves. */
  clock: number;
}

export interface AheadCursor extends ChainCursor {
  /** Position of the facts record behind the newest block that was folded. */
  unfolded: number;
}

/** End of the complete ticks; the first provisional tick follows `tick`. */
export function placeAtLine(
  cursors: readonly ChainCursor[],
  folds: readonly GenerationFold[],
  tick: number,
): AheadPlace {
  return {
    cursors: cursors.map((cursor) => {
      const unfolded = cursor.queue[0]?.position ?? cursor.next;
      return { ...cursor, queue: [], next: unfolded, unfolded, readThrough: -1, isAtEnd: false };
    }),
    folds: folds.map(({ generation, fold }) => ({ generation, fold: fold.copy(), current: new Map() })),
    tips: new Map(),
    tick,
    clock: Number.NEGATIVE_INFINITY,
  };
}

/** An independent copy; records read but not folded are read again. */
export function copyPlace({ cursors, folds, tips, tick, clock }: AheadPlace): AheadPlace {
  return {
    cursors: cursors.map((cursor) => ({ ...cursor, queue: [], next: cursor.unfolded, isAtEnd: false })),
    folds: folds.map(({ generation, fold, current }) => {
      return { generation, fold: fold.copy(), current: new Map(current) };
    }),
    tips: new Map(tips),
    tick,
    clock,
  };
}

/** Whether the complete line has passed a block that was not folded here. */
export function isBehind({ cursors }: AheadPlace, line: readonly ChainCursor[]): boolean {
  return cursors.some(({ ticked }, index) => (ticked?.height ?? -1) < (line[index]?.ticked?.height ?? -1));
}

export function heightAt({ cursors }: AheadPlace, chain: string): number {
  return cursors.find((cursor) => cursor.chain.name === chain)?.ticked?.height ?? -1;
}

/** Whether the next block of some chain may have this clock: all of it is read, and ends between the place and `clock`. */
export function isLineOfChain({ cursors, clock: folded }: AheadPlace, clock: number): boolean {
  return cursors.some((cursor) => {
    const newest = newestClock(cursor);
    return cursor.isAtEnd && newest > folded && newest <= clock;
  });
}

/** Whether the next tick and its views are known: a block may be followed by another of the same clock. */
export function hasReadEnough({ queue, isAtEnd }: AheadCursor): boolean {
  return isAtEnd || (queue[0]?.clock ?? 0) < (queue.at(-1)?.clock ?? 0);
}
