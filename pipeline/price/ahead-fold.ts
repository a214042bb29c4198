/**
 * Folds blocks beyond the line provisionally; the line is the clock that all chains have passed. A block out of order restarts the fold from
 * the nearest checkpoint; rows after it stay visible until they are recomputed. docs/decisions/0036-any-distance.md
 */
import type { AheadDrop, AheadRows, Shown } from './ahead-change.ts';
import { type AheadParts, createAheadParts, restored } from './ahead-parts.ts';
import { type AheadCursor, isBehind } from './ahead-place.ts';
import type { AheadReader } from './ahead-reader.ts';
import {
  type AheadState,
  createAheadState,
  cut,
  type FoundRewind,
  isStale,
  keepBefore,
  type Line,
  mayRecompute,
  pauseMs,
  restart,
  tipsBeyond,
} from './ahead-state.ts';
import type { CurrentPrices } from './postgres-ahead.ts';
import type { BatchLimits } from './price-batch.ts';
import type { TickRow } from './price-rows.ts';

/** A remake that took no longer than this needs no pause; any other is followed by a pause of the same length. */
const BRIEF_MS = 50;

export interface AheadFold {
  /** Forgets everything except the rows that the stores show. */
  reset(shown: Shown): void;
  /** Notes that the line has passed these ticks. */
  passed(ticks: readonly TickRow[]): void;
  /** Notes that a chain was rewound to `height`: rows from later blocks are no longer shown. */
  rewound(chain: string, height: number): void;
  /** Recomputes the rows from later blocks of the chain. */
  goBack(chain: string, height: number): void;
  /** Returns whether there is work; then the caller takes the drop, and after it all parts. */
  begin(line: Line): Promise<boolean>;
  /** Yields nothing when `begin` found no work. */
  parts(line: Line): AsyncGenerator<readonly AheadRows[]>;
  /** Rows to delete from the stores; read once per commit. */
  takeDrop(): AheadDrop;
  /** A rewind that was found. Nothing is folded until the caller has taken it and rewound the chain. */
  takeFound(): FoundRewind | null;
  readonly hasFound: boolean;
  readonly shown: Shown;
  current(): readonly CurrentPrices[];
  /** Milliseconds until the work that the last `begin` deferred may be done; 0 if there is none. */
  pauseMs(): number;
  /** Number of blocks in memory. */
  held(): number;
}

export function createAheadFold(
  reader: AheadReader,
  limits: Pick<BatchLimits, 'maxTicks' | 'maxRows'>,
  defaultChain: string,
  yieldToEventLoop: () => Promise<void> | undefined,
): AheadFold {
  const state = createAheadState();
  const { fill, makePart } = createAheadParts(state, reader, limits, defaultChain, yieldToEventLoop);

  return {
    reset(now) {
      state.checkpoints.keep(() => false);
      state.shown = now;
      state.place = null;
      state.goal = 0;
      state.complete = new Map();
      state.keepThrough = null;
      state.againAt = 0;
      state.isPaused = false;
      state.isCut = false;
    },

    passed(ticks) {
      const tips = new Map(state.shown.tips);
      state.complete = new Map([...state.complete, ...ticks.map(({ block }) => [block.chain, block.height] as const)]);
      for (const { block } of ticks) {
        const tip = tips.get(block.chain);
        if (!tip || tip.height < block.height) continue;
        state.shown.first++;
        if (tip.height === block.height) tips.delete(block.chain);
      }
      state.shown.tips = tips;
    },

    rewound(chain, height) {
      keepBefore(state, chain, height);
      for (const cursor of state.place?.cursors ?? []) {
        if (cursor.chain.name === chain) cursor.queue = cursor.queue.filter((block) => block.height <= height);
      }
      if ((state.shown.tips.get(chain)?.height ?? -1) <= height) return;
      state.goal = Math.max(state.goal, state.shown.next);
      cut(state, state.checkpoints.newest());
      state.isCut = true;
    },

    goBack: (chain, height) => keepBefore(state, chain, height),

    begin: (line) => begin(state, fill, line),

    async *parts(line) {
      const at = state.place;
      const started = performance.now();
      const isRemake = state.goal > 0;
      if (at && isRemake) yield restored(at, state.shown.first);
      while (at) {
        const part = await makePart(at, line);
        if (!part) break;
        state.shown.next = at.tick + 1;
        state.shown.tips = tipsBeyond(state, at);
        yield part;
        if (state.found || at.tick + 1 >= state.goal) break;
      }
      state.goal = 0;
      state.isCut = false;
      const took = performance.now() - started;
      if (isRemake) state.againAt = took > BRIEF_MS ? performance.now() + took : 0;
    },

    takeDrop() {
      const drop = { keepThrough: state.keepThrough, passed: state.shown.first };
      state.keepThrough = null;
      return drop;
    },

    takeFound() {
      const it = state.found;
      state.found = null;
      return it;
    },

    get hasFound() {
      return state.found !== null;
    },

    get shown() {
      return state.shown;
    },

    current() {
      const { first } = state.shown;
      return (state.place?.folds ?? []).map(({ generation, current }) => {
        return { generation, prices: [...new Set(current.values())].filter(({ tick }) => tick >= first) };
      });
    },

    pauseMs: () => pauseMs(state, performance.now()),
    held: () =>
      (state.place?.cursors ?? []).reduce((sum: number, { queue }: AheadCursor) => sum + queue.length, reader.held()),
  };
}

/** Finds the place from which to continue, and returns whether there is work. */
async function begin(state: AheadState, fill: AheadParts['fill'], line: Line): Promise<boolean> {
  state.isPaused = false;
  if (state.found || line.cursors.some(({ view, next, readThrough }) => !view || next <= readThrough)) return false;
  state.complete = new Map(line.cursors.map(({ chain, ticked }) => [chain.name, ticked?.height ?? -1]));
  state.checkpoints.keep((checkpoint) => !isBehind(checkpoint, line.cursors));
  if (state.place && isBehind(state.place, line.cursors)) state.place = null;
  if (isStale(state) && !mayRecompute(state, performance.now())) return false;
  for (const cursor of state.place?.cursors ?? []) cursor.isAtEnd = false;
  for (;;) {
    const isRestart = state.place === null;
    state.place ??= restart(state, line);
    const read = await fill(state.place, line);
    if (read === 'rewind') {
      if (isRestart) state.place = null;
      return false;
    }
    if (read === 'late') {
      state.place = null;
      if (!mayRecompute(state, performance.now())) return false;
      continue;
    }
    const isOver = state.place.tick + 1 < state.shown.next;
    if (isOver) {
      state.goal = Math.max(state.goal, state.shown.next);
      cut(state, state.place);
    }
    const hasMore = state.place.cursors.some(({ queue }) => queue.length > 0);
    if (isRestart && !hasMore && state.place.tips.size === 0) state.place = null;
    return isOver || hasMore || state.keepThrough !== null;
  }
}
