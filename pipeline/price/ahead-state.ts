/** State of the fold beyond the line: the rows that the stores show, the newest valid place, and how far it must recompute. */
import type { FactsRewound } from '../../schemas/log-records.ts';
import type { AheadTip, Shown } from './ahead-change.ts';
import { type AheadPlace, copyPlace, heightAt, placeAtLine } from './ahead-place.ts';
import { type Checkpoints, createCheckpoints } from './checkpoints.ts';
import type { GenerationFold } from './price-batch.ts';
import type { ChainCursor } from './price-chain.ts';
import type { DerivedPositions } from './read-facts.ts';

/** End of the complete ticks. */
export interface Line {
  readonly cursors: readonly ChainCursor[];
  readonly folds: readonly GenerationFold[];
  readonly derived: DerivedPositions;
}

/** A rewind found beyond the stage's own reads. */
export interface FoundRewind {
  readonly chain: string;
  readonly rewind: FactsRewound;
}

export interface AheadState {
  readonly checkpoints: Checkpoints;
  shown: Shown;
  /** The place after the newest valid tick; null when that is a checkpoint or the line. */
  place: AheadPlace | null;
  found: FoundRewind | null;
  keepThrough: number | null;
  /** End of the shown rows; one commit recomputes at least as far. */
  goal: number;
  /** Time from which invalid rows may be recomputed, in terms of performance.now(). */
  againAt: number;
  /** Whether work had to be deferred until then. */
  isPaused: boolean;
  isCut: boolean;
  sinceCheckpoint: number;
  /** By chain: the newest complete block. */
  complete: ReadonlyMap<string, number>;
}

export function createAheadState(): AheadState {
  return {
    checkpoints: createCheckpoints(),
    shown: { first: 0, next: 0, tips: new Map() },
    place: null,
    found: null,
    keepThrough: null,
    goal: 0,
    againAt: 0,
    isPaused: false,
    isCut: false,
    sinceCheckpoint: 0,
    complete: new Map(),
  };
}

/** Tips of a place that the complete ticks have not reached. */
export function tipsBeyond({ complete }: AheadState, at: AheadPlace | null): ReadonlyMap<string, AheadTip> {
  const tips = [...(at?.tips ?? [])].filter(([chain, { height }]) => height > (complete.get(chain) ?? -1));
  return new Map(tips);
}

/** Drops the shown rows after a position. */
export function cut(state: AheadState, to: AheadPlace | null): void {
  const { shown } = state;
  shown.next = Math.max(shown.first, (to?.tick ?? 0) + 1);
  shown.tips = tipsBeyond(state, to);
  state.keepThrough = Math.min(state.keepThrough ?? shown.next - 1, shown.next - 1);
}

export function keepBefore(state: AheadState, chain: string, height: number): void {
  state.checkpoints.keep((checkpoint) => heightAt(checkpoint, chain) <= height);
  if (state.place && heightAt(state.place, chain) > height) state.place = null;
}

/** Returns to the newest valid place. */
export function restart(state: AheadState, line: Line): AheadPlace {
  state.sinceCheckpoint = 0;
  const checkpoint = state.checkpoints.newest();
  return checkpoint ? copyPlace(checkpoint) : placeAtLine(line.cursors, line.folds, state.shown.first - 1);
}

/** Whether invalid rows may be recomputed now. */
export function mayRecompute(state: AheadState, now: number): boolean {
  state.isPaused = !state.isCut && now < state.againAt;
  return !state.isPaused;
}

/** Milliseconds that deferred work still has to wait: 0 without deferred work, else at least 1, even when its time has come. */
export function pauseMs({ isPaused, againAt }: AheadState, now: number): number {
  return isPaused ? Math.max(1, againAt - now) : 0;
}

/** Whether shown rows are no longer valid. */
export function isStale({ place, shown }: AheadState): boolean {
  return place === null && shown.next > shown.first;
}
