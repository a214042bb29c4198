/**
 * Beyond the line that the clocks of all chains have passed: prices and stamps of the blocks that are there, however many. A
 * block at the end is one tick more; one that belongs further back takes the fold to the newest place before it, and what was
 * shown behind stays until it is made again. docs/decisions/0036-any-distance.md.
 */
import type { PricedBlock } from '../../processors/pricing/chain-view.ts';
import type { FactsRewound } from '../../schemas/log-records.ts';
import type { AheadDrop, AheadRows, AheadTip, Shown } from './ahead-change.ts';
import {
  type AheadCursor,
  type AheadPlace,
  copyPlace,
  hasReadEnough,
  heightAt,
  isBehind,
  isLineOfChain,
  placeAtLine,
} from './ahead-place.ts';
import type { AheadReader } from './ahead-reader.ts';
import { createCheckpoints } from './checkpoints.ts';
import { nextTick, takeTick } from './next-tick.ts';
import type { CurrentPrices } from './postgres-ahead.ts';
import { type BatchLimits, type GenerationFold, gather, rowCount } from './price-batch.ts';
import type { ChainCursor } from './price-chain.ts';
import type { TickRow } from './price-rows.ts';
import type { DerivedPositions } from './read-facts.ts';

/** A remake that took no longer than this needs no pause; any other is followed by a pause of the same length. */
const BRIEF_MS = 50;
/** Ticks from one checkpoint to the next where nothing else asks for one. */
const CHECKPOINT_TICKS = 500;

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

export interface AheadFold {
  /** Forgets everything except the rows that the stores show. */
  reset(shown: Shown): void;
  /** The line has passed these. */
  passed(ticks: readonly TickRow[]): void;
  /** A chain was rewound to `height`: rows from later blocks are no longer shown. */
  rewound(chain: string, height: number): void;
  /** Recomputes the rows from later blocks of the chain. */
  goBack(chain: string, height: number): void;
  /** Whether there is work; then the caller takes all parts, the dropped ones first. */
  begin(line: Line): Promise<boolean>;
  /** Nothing where `begin` found nothing. */
  parts(line: Line): AsyncGenerator<readonly AheadRows[]>;
  /** Rows to delete from the stores; read once per commit. */
  takeDrop(): AheadDrop;
  /** Nothing is made until the caller has taken it and the chain back. */
  takeFound(): FoundRewind | null;
  readonly hasFound: boolean;
  readonly shown: Shown;
  current(): readonly CurrentPrices[];
  /** Milliseconds until invalid rows may be recomputed; 0 if there are none. */
  pauseMs(): number;
  /** Blocks that are held. */
  held(): number;
}

export function createAheadFold(
  reader: AheadReader,
  limits: Pick<BatchLimits, 'maxTicks' | 'maxRows'>,
  defaultChain: string,
  yieldToEventLoop: () => Promise<void> | undefined,
): AheadFold {
  const checkpoints = createCheckpoints();
  let shown: Shown = { first: 0, next: 0, tips: new Map() };
  /** Behind the newest tick that still holds; null where that is a checkpoint or the line. */
  let place: AheadPlace | null = null;
  let found: FoundRewind | null = null;
  let keepThrough: number | null = null;
  /** End of the shown rows; one commit recomputes at least as far. */
  let goal = 0;
  let againAt = 0;
  let isCut = false;
  let sinceCheckpoint = 0;
  /** By chain: the newest complete block. */
  let complete: ReadonlyMap<string, number> = new Map();

  function tipsBeyond(at: AheadPlace | null): ReadonlyMap<string, AheadTip> {
    const tips = [...(at?.tips ?? [])].filter(([chain, { height }]) => height > (complete.get(chain) ?? -1));
    return new Map(tips);
  }

  /** Drops the shown rows after a position. */
  function cut(to: AheadPlace | null): void {
    shown.next = Math.max(shown.first, (to?.tick ?? 0) + 1);
    shown.tips = tipsBeyond(to);
    keepThrough = Math.min(keepThrough ?? shown.next - 1, shown.next - 1);
  }

  function keepBefore(chain: string, height: number): void {
    checkpoints.keep((checkpoint) => heightAt(checkpoint, chain) <= height);
    if (place && heightAt(place, chain) > height) place = null;
  }

  /** Reads until the next tick is known. */
  async function fill(at: AheadPlace, line: Line): Promise<'read' | 'late' | 'rewind'> {
    for (const [index, cursor] of at.cursors.entries()) {
      const own = line.cursors[index];
      while (own && !hasReadEnough(cursor)) {
        const { blocks, next, rewind } = await reader.read(own, cursor.next, line.derived);
        if (rewind) {
          found = { chain: cursor.chain.name, rewind };
          return 'rewind';
        }
        const [first] = blocks;
        if (first && first.clock <= at.clock) {
          const { clock } = first;
          checkpoints.keep((checkpoint) => checkpoint.clock < clock);
          return 'late';
        }
        cursor.isAtEnd = next === cursor.next;
        cursor.next = next;
        cursor.queue = [...cursor.queue, ...blocks];
      }
    }
    return 'read';
  }

  function takeBlock(at: AheadPlace, tick: number, block: PricedBlock): void {
    const { position, height, hash, clock } = block;
    const cursor = at.cursors.find(({ chain }) => chain.name === block.chain);
    if (cursor) cursor.unfolded = position + 1;
    at.tips.set(block.chain, { position, height, hash, clock });
    at.tick = tick;
    at.clock = clock;
  }

  /** Null at the end. */
  async function makePart(at: AheadPlace, line: Line): Promise<readonly AheadRows[] | null> {
    const firstTick = at.tick + 1;
    const gathered = at.folds.map(({ generation, fold }) => gather(generation, fold));
    let rows = 0;
    while (at.tick + 1 - firstTick < limits.maxTicks && rows < limits.maxRows) {
      await yieldToEventLoop();
      if (!at.cursors.every(hasReadEnough) && (await fill(at, line)) !== 'read') break;
      const next = nextTick(at.cursors, true);
      if (!next) break;
      const { block, views } = next;
      if (block.clock > at.clock && at.tips.size > 0 && isDue(at, block.clock)) addCheckpoint(at);
      for (const [index, { current }] of at.folds.entries()) {
        const made = gathered[index]?.take(at.tick + 1, block, views);
        if (!made) continue;
        rows += rowCount(made);
        for (const row of made.prices) {
          current.set(row.price.currencyId, row);
          if (block.chain === defaultChain) current.set(`step ${row.price.currencyId}`, row);
        }
      }
      takeTick(next, at.cursors);
      takeBlock(at, at.tick + 1, block);
      sinceCheckpoint++;
    }
    return at.tick < firstTick ? null : gathered.map(({ end }) => provisional(end()));
  }

  function isDue(at: AheadPlace, clock: number): boolean {
    return sinceCheckpoint >= CHECKPOINT_TICKS || isLineOfChain(at, clock);
  }

  function addCheckpoint(at: AheadPlace): void {
    checkpoints.add(at);
    sinceCheckpoint = 0;
  }

  /** Corrections of complete stamps are for the complete fold to make. */
  function provisional({
    generation,
    prices,
    stamps,
    corrections,
    publishedTicks,
  }: ReturnType<ReturnType<typeof gather>['end']>) {
    const marked = (row: (typeof stamps)[number]) => ({ ...row, stamp: { ...row.stamp, provisional: true } });
    const shownCorrections = corrections.filter(({ tick }) => tick >= shown.first).map(marked);
    return { generation, prices, stamps: stamps.map(marked), corrections: shownCorrections, publishedTicks };
  }

  /** Stamps up to the position may have been corrected by later rows that are gone now. */
  function restored(at: AheadPlace): readonly AheadRows[] {
    return at.folds.map(({ generation, fold }) => {
      const open = fold.openStamps().filter(({ tick }) => tick >= shown.first);
      const corrections = open.map((row) => ({ ...row, stamp: { ...row.stamp, provisional: true } }));
      return { generation, prices: [], stamps: [], corrections, publishedTicks: [] };
    });
  }

  /** Back to the newest place that holds. */
  function restart(line: Line): AheadPlace {
    sinceCheckpoint = 0;
    const checkpoint = checkpoints.newest();
    return checkpoint ? copyPlace(checkpoint) : placeAtLine(line.cursors, line.folds, shown.first - 1);
  }

  const isStale = () => place === null && shown.next > shown.first;

  return {
    reset(now) {
      checkpoints.keep(() => false);
      shown = now;
      place = null;
      goal = 0;
      complete = new Map();
      keepThrough = null;
      againAt = 0;
      isCut = false;
    },

    passed(ticks) {
      const tips = new Map(shown.tips);
      complete = new Map([...complete, ...ticks.map(({ block }) => [block.chain, block.height] as const)]);
      for (const { block } of ticks) {
        const tip = tips.get(block.chain);
        if (!tip || tip.height < block.height) continue;
        shown.first++;
        if (tip.height === block.height) tips.delete(block.chain);
      }
      shown.tips = tips;
    },

    rewound(chain, height) {
      keepBefore(chain, height);
      for (const cursor of place?.cursors ?? []) {
        if (cursor.chain.name === chain) cursor.queue = cursor.queue.filter((block) => block.height <= height);
      }
      if ((shown.tips.get(chain)?.height ?? -1) <= height) return;
      goal = Math.max(goal, shown.next);
      cut(checkpoints.newest());
      isCut = true;
    },

    goBack: keepBefore,

    async begin(line) {
      if (found || line.cursors.some(({ view, next, readThrough }) => !view || next <= readThrough)) return false;
      complete = new Map(line.cursors.map(({ chain, ticked }) => [chain.name, ticked?.height ?? -1]));
      checkpoints.keep((checkpoint) => !isBehind(checkpoint, line.cursors));
      if (place && isBehind(place, line.cursors)) place = null;
      if (isStale() && !isCut && performance.now() < againAt) return false;
      for (const cursor of place?.cursors ?? []) cursor.isAtEnd = false;
      for (;;) {
        const isRestart = place === null;
        place ??= restart(line);
        const read = await fill(place, line);
        if (read === 'rewind') {
          if (isRestart) place = null;
          return false;
        }
        if (read === 'late') {
          place = null;
          if (!isCut && performance.now() < againAt) return false;
          continue;
        }
        const isOver = place.tick + 1 < shown.next;
        if (isOver) {
          goal = Math.max(goal, shown.next);
          cut(place);
        }
        const hasMore = place.cursors.some(({ queue }) => queue.length > 0);
        if (isRestart && !hasMore && place.tips.size === 0) place = null;
        return isOver || hasMore || keepThrough !== null;
      }
    },

    async *parts(line) {
      const at = place;
      const started = performance.now();
      const isRemake = goal > 0;
      if (at && isRemake) yield restored(at);
      while (at) {
        const part = await makePart(at, line);
        if (!part) break;
        shown.next = at.tick + 1;
        shown.tips = tipsBeyond(at);
        yield part;
        if (found || at.tick + 1 >= goal) break;
      }
      goal = 0;
      isCut = false;
      const took = performance.now() - started;
      if (isRemake) againAt = took > BRIEF_MS ? performance.now() + took : 0;
    },

    takeDrop() {
      const drop = { keepThrough, passed: shown.first };
      keepThrough = null;
      return drop;
    },

    takeFound() {
      const it = found;
      found = null;
      return it;
    },

    get hasFound() {
      return found !== null;
    },

    get shown() {
      return shown;
    },

    current() {
      const { first } = shown;
      return (place?.folds ?? []).map(({ generation, current }) => {
        return { generation, prices: [...new Set(current.values())].filter(({ tick }) => tick >= first) };
      });
    },

    pauseMs: () => (isStale() ? Math.max(0, againAt - performance.now()) : 0),
    held: () =>
      (place?.cursors ?? []).reduce((sum: number, { queue }: AheadCursor) => sum + queue.length, reader.held()),
  };
}
