/** Reads blocks beyond the line and folds them, part by part. */
import type { PricedBlock } from '../../processors/pricing/chain-view.ts';
import type { StampRow } from '../../processors/pricing/stamp.ts';
import type { AheadRows } from './ahead-change.ts';
import { type AheadPlace, hasReadEnough, isLineOfChain } from './ahead-place.ts';
import type { AheadReader } from './ahead-reader.ts';
import type { AheadState, Line } from './ahead-state.ts';
import { nextTick, takeTick } from './next-tick.ts';
import { type BatchLimits, type FoldedRows, gather, rowCount } from './price-batch.ts';

/** Ticks from one checkpoint to the next when nothing else requires one. */
const CHECKPOINT_TICKS = 500;

export interface AheadParts {
  /** Reads until the next tick is known, or returns why the place is no longer valid. */
  fill(at: AheadPlace, line: Line): Promise<'read' | 'late' | 'rewind'>;
  /** Returns null at the end. */
  makePart(at: AheadPlace, line: Line): Promise<readonly AheadRows[] | null>;
}

export function createAheadParts(
  state: AheadState,
  reader: AheadReader,
  limits: Pick<BatchLimits, 'maxTicks' | 'maxRows'>,
  defaultChain: string,
  yieldToEventLoop: () => Promise<void> | undefined,
): AheadParts {
  const { checkpoints } = state;

  async function fill(at: AheadPlace, line: Line): Promise<'read' | 'late' | 'rewind'> {
    for (const [index, cursor] of at.cursors.entries()) {
      const own = line.cursors[index];
      while (own && !hasReadEnough(cursor)) {
        const { blocks, next, rewind } = await reader.read(own, cursor.next, line.derived);
        if (rewind) {
          state.found = { chain: cursor.chain.name, rewind };
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
      if (block.clock > at.clock && at.tips.size > 0 && isDue(state, at, block.clock)) addCheckpoint(at);
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
      state.sinceCheckpoint++;
    }
    return at.tick < firstTick ? null : gathered.map(({ end }) => provisional(end(), state.shown.first));
  }

  function addCheckpoint(at: AheadPlace): void {
    checkpoints.add(at);
    state.sinceCheckpoint = 0;
  }

  return { fill, makePart };
}

function isDue({ sinceCheckpoint }: AheadState, at: AheadPlace, clock: number): boolean {
  return sinceCheckpoint >= CHECKPOINT_TICKS || isLineOfChain(at, clock);
}

function takeBlock(at: AheadPlace, tick: number, block: PricedBlock): void {
  const { position, height, hash, clock } = block;
  const cursor = at.cursors.find(({ chain }) => chain.name === block.chain);
  if (cursor) cursor.unfolded = position + 1;
  at.tips.set(block.chain, { position, height, hash, clock });
  at.tick = tick;
  at.clock = clock;
}

/** Leaves out corrections of complete stamps, which the complete fold makes; `first` is the first provisional tick. */
function provisional(
  { generation, prices, stamps, corrections, publishedTicks }: FoldedRows,
  first: number,
): AheadRows {
  const shownCorrections = corrections.filter(({ tick }) => tick >= first).map(marked);
  return { generation, prices, stamps: stamps.map(marked), corrections: shownCorrections, publishedTicks };
}

const marked = (row: StampRow): StampRow => ({ ...row, stamp: { ...row.stamp, provisional: true } });

/** Corrects stamps from `first` up to the place, which later rows that are now removed may have corrected. */
export function restored(at: AheadPlace, first: number): readonly AheadRows[] {
  return at.folds.map(({ generation, fold }) => {
    const open = fold.openStamps().filter(({ tick }) => tick >= first);
    return { generation, prices: [], stamps: [], corrections: open.map(marked), publishedTicks: [] };
  });
}
