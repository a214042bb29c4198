/**
 * The rows that are shown beyond the line that the clocks of all chains have passed, and how they change: they are appended in the order
 * of their ticks, dropped at the end when they are no longer valid, and dropped at the front when the line has passed them.
 */
import { FIRST_AHEAD_TICK } from '../../schemas/ahead-runs.ts';
import type { FoldedRows } from './price-batch.ts';

/** Both ticks are provisional. The number of a tick dropped at the end is reused by its replacement. */
export interface AheadDrop {
  /** The newest tick that stays: rows beyond it are no longer valid. Null when all rows stay. */
  readonly keepThrough: number | null;
  /** The oldest tick that stays; complete rows have replaced those before it. */
  readonly passed: number;
}

/** The rows of one generation for the ticks of one part; parts follow each other without a gap. All stamps are provisional. */
export type AheadRows = Omit<FoldedRows, 'backfill'>;

/** A block that is shown beyond the line. */
export interface AheadTip {
  /** Position of the facts record. */
  readonly position: number;
  readonly height: number;
  readonly hash: string;
  readonly clock: number;
}

/** Provisional rows that the stores show. */
export interface Shown {
  /** The first tick; equals `next` when nothing is shown. */
  first: number;
  /** The number that the next tick gets. */
  next: number;
  /** By chain: the newest block beyond the line; chains without such a block are absent. */
  tips: ReadonlyMap<string, AheadTip>;
}

export function nothingShown(): Shown {
  return { first: FIRST_AHEAD_TICK, next: FIRST_AHEAD_TICK, tips: new Map() };
}
