/** The order of all blocks: by clock, then by the order of the chains, then by height. */
import { advanceView, type ChainView, type PricedBlock } from '../../processors/pricing/chain-view.ts';
import { type ChainCursor, newestClock } from './price-chain.ts';

export interface NextTick {
  readonly cursor: ChainCursor;
  readonly block: PricedBlock;
  /** View of every chain at that moment, in the order of the chains. */
  readonly views: readonly ChainView[];
}

/** The next block that every other chain's clock has passed; null if none. With `ahead`, ignores other chains' clocks and takes the earliest queued block. */
export function nextTick(cursors: readonly ChainCursor[], ahead = false): NextTick | null {
  let first: ChainCursor | null = null;
  for (const cursor of cursors) {
    if (cursor.next <= cursor.readThrough) return null;
    const head = cursor.queue[0];
    if (head && head.clock < (first?.queue[0]?.clock ?? Number.POSITIVE_INFINITY)) first = cursor;
  }
  const block = first?.queue[0];
  if (!first || !block) return null;
  const views: ChainView[] = [];
  for (const cursor of cursors) {
    if (!cursor.view) return null;
    if (!ahead && cursor !== first && newestClock(cursor) <= block.clock) return null;
    views.push(cursor === first ? advanceView(cursor.view, block) : viewAt(cursor.view, cursor.queue, block.clock));
  }
  return { cursor: first, block, views };
}

/** Takes the block out of its queue and moves its chain past it. */
export function takeTick({ cursor, block, views }: NextTick, cursors: readonly ChainCursor[]): void {
  cursor.queue.shift();
  cursor.view = views[cursors.indexOf(cursor)] ?? cursor.view;
  cursor.ticked = { height: block.height, hash: block.hash, clock: block.clock };
}

/** Position of another chain: its greatest height with a clock not after this one, even if its own tick comes later. */
function viewAt(view: ChainView, queue: readonly PricedBlock[], clock: number): ChainView {
  let at = view;
  for (const block of queue) {
    if (block.clock > clock) break;
    at = advanceView(at, block);
  }
  return at;
}
