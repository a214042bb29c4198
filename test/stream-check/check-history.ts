/** Compares what one client received with what happened: no gap, no duplicate, in order, unaltered, every undo balanced. */
import { decodePlaces, type FeedKey } from '../../api/push/cursor.ts';
import { type ClientHistory, type HeardEvent, UNDO_OF_PRICES, VALUED } from './history.ts';

export interface Truth {
  /** Every event of each feed, in order, up to a record that every client of the feed has received. */
  readonly events: ReadonlyMap<FeedKey, readonly HeardEvent[]>;
  /** Position of that record: events from there on are not checked. */
  readonly ends: ReadonlyMap<FeedKey, number>;
  /** Hash of the block that a chain ended with at a height; undefined above its end. */
  readonly hashAt: (chain: string, height: number) => string | undefined;
}

/** Faults that are listed in full for one client; the others are counted. */
const MOST_TOLD = 5;

export function checkHistory(history: ClientHistory, truth: Truth): string[] {
  const faults = [...history.faults];
  for (const [feed, happened] of truth.events) {
    const end = truth.ends.get(feed) ?? 0;
    const heard = history.events.filter((event) => event.feed === feed && event.position < end);
    faults.push(...deliveryFaults(history, heard, happened));
    faults.push(...balanceFaults(history, feed, heard, truth), ...priceFaults(heard));
  }
  const rest = faults.length - MOST_TOLD;
  return [...faults.slice(0, MOST_TOLD), ...(rest > 0 ? [`and ${rest} more`] : [])].map(
    (fault) => `${history.client}: ${fault}`,
  );
}

const keyOf = ({ feed, position, index }: HeardEvent) => `${feed} ${position}.${index}`;
const nameOf = (event: HeardEvent) => `${event.type} ${keyOf(event)}`;
const isAfter = (a: HeardEvent, b: HeardEvent) =>
  a.position > b.position || (a.position === b.position && a.index > b.index);

function deliveryFaults(
  { types, from }: ClientHistory,
  heard: readonly HeardEvent[],
  happened: readonly HeardEvent[],
): string[] {
  const faults: string[] = [];
  const start = decodePlaces(from);
  const isDue = ({ feed, position, index, type }: HeardEvent) => {
    const place = start.get(feed);
    const passed = place && (position < place.position || (position === place.position && index < place.index));
    return !passed && types.has(type);
  };
  const due = new Map(happened.filter(isDue).map((event) => [keyOf(event), event]));
  const had = new Set<string>();
  let last: HeardEvent | null = null;
  for (const event of heard) {
    const key = keyOf(event);
    const original = due.get(key);
    if (had.has(key)) faults.push(`double ${nameOf(event)}`);
    else if (!original) faults.push(`not asked for, or never happened: ${nameOf(event)}`);
    else if (original.content !== event.content || original.type !== event.type)
      faults.push(`altered ${nameOf(event)}`);
    if (last && !had.has(key) && !isAfter(event, last)) faults.push(`${nameOf(event)} came after ${nameOf(last)}`);
    if (!last || isAfter(event, last)) last = event;
    had.add(key);
  }
  for (const [key, event] of due) if (!had.has(key)) faults.push(`gap: ${nameOf(event)} was never sent`);
  return faults;
}

interface BlockData {
  readonly height: number;
  readonly hash: string;
  readonly previousHash: string | null;
}
interface UndoData {
  readonly fromHeight: number;
  readonly toHeight: number;
  readonly hash: string;
}

/** Blocks and undos alone must yield the chain that the daemon has in the end; this needs no true events. */
function balanceFaults(
  { types }: ClientHistory,
  chain: string,
  heard: readonly HeardEvent[],
  { hashAt }: Truth,
): string[] {
  if (!types.has('block')) return [];
  const faults: string[] = [];
  const blocks = new Map<number, string>();
  let top: number | null = null;
  for (const event of heard) {
    if (event.type === 'block') {
      const { height, hash, previousHash } = JSON.parse(event.content) as BlockData;
      if (top !== null && height !== top + 1) faults.push(`block ${height} sent on top of ${top}`);
      else if (top !== null && blocks.has(top) && blocks.get(top) !== previousHash)
        faults.push(`block ${height} does not follow the block sent before it`);
      blocks.set(height, hash);
      top = height;
    } else if (event.type === 'undo') {
      const { fromHeight, toHeight, hash } = JSON.parse(event.content) as UndoData;
      if (top !== null && fromHeight !== top) faults.push(`undo from ${fromHeight} while ${top} was the top`);
      if (blocks.has(toHeight) && blocks.get(toHeight) !== hash)
        faults.push(`undo to a block of ${toHeight} that was never sent`);
      for (let height = fromHeight; height > toHeight; height -= 1) blocks.delete(height);
      top = toHeight;
    }
  }
  for (const [height, hash] of blocks) {
    if (hashAt(chain, height) !== hash) faults.push(`block ${height} is not the one that ${chain} ended with`);
  }
  return faults;
}

/** Prices must ascend the chain, except after an undo; this, too, needs no true events. */
function priceFaults(heard: readonly HeardEvent[]): string[] {
  const faults: string[] = [];
  let top = -1;
  for (const event of heard) {
    const data = JSON.parse(event.content);
    if (event.type === UNDO_OF_PRICES) {
      if (data.toHeight >= data.fromHeight || data.fromHeight < top)
        faults.push(`${nameOf(event)} while ${top} was the top`);
      top = data.toHeight;
    } else if (event.type === 'price' || event.type === VALUED) {
      const height = event.type === VALUED ? data.importHeight : data.height;
      if (height < top) faults.push(`${nameOf(event)} of block ${height} after ${top}`);
      top = Math.max(top, height);
    }
  }
  return faults;
}
