/**
 * The events that a record brings to subscribers with `confirmations`: those of the blocks that have so many further blocks on top
 * of them from this record on. It follows from the records before it alone, so a place in the stream lasts as all places do.
 */
import type { ChainChange } from './chain-change.ts';
import type { FeedRecord } from './chain-feed.ts';
import type { FeedKey, FeedPlace } from './cursor.ts';
import { headOf, type PushEvent, pushEvent } from './push-event.ts';

/** Records of one topic of a chain, as far as they are in memory. */
export interface RecordsInMemory {
  change(position: number): ChainChange | undefined;
  record(position: number): FeedRecord | undefined;
}

export interface NotInMemory {
  /** To read first. */
  readonly position: number;
  /** So many records lie between that they are not read. */
  readonly isTooFar?: boolean;
}

export interface MissingRecord extends NotInMemory {
  readonly feed: FeedKey;
}

/** Records before one that are looked at, at most: a hundred blocks, and as many reorganisations of them as no chain has. */
export const MOST_LOOKED_BACK = 10_000;
/** In the index of a place, confirmed events come behind those of the record itself, by their confirmations. */
const INDEX_OF_CONFIRMATIONS = 2 ** 32;

/** @param floor no record below it is looked at: the log no longer has it */
export function confirmedEvents(
  records: RecordsInMemory,
  position: number,
  confirmations: number,
  floor = 0,
): readonly PushEvent[] | NotInMemory {
  const change = records.change(position);
  if (!change) return { position };
  const before = readBack(records, position, confirmations, floor);
  if ('position' in before) return before;
  const positions = sourcesOf(change, position, confirmations, before);
  const events: PushEvent[] = [];
  for (const source of positions) {
    const record = records.record(source);
    if (!record) return { position: source };
    for (const event of record.events) {
      const index = confirmations * INDEX_OF_CONFIRMATIONS + events.length;
      events.push(confirmed(event, { position, index }, confirmations, before.delivered));
    }
  }
  return events;
}

/** Positions of the records whose events are delivered now. */
function sourcesOf(change: ChainChange, position: number, confirmations: number, before: Before): readonly number[] {
  const { delivered, standing } = before;
  switch (change.kind) {
    case 'rewind':
      return change.height < delivered ? [position] : [];
    case 'correction':
      return change.height <= delivered ? [position] : [];
    case 'block':
      return standing
        .filter(({ height }) => height > delivered && height <= change.height - confirmations)
        .map((record) => record.position);
  }
}

interface Before {
  /** Newest height whose events were delivered and still hold; −1 if there is none. */
  readonly delivered: number;
  /** Blocks that stand, and their corrections, in order. */
  readonly standing: readonly { readonly position: number; readonly height: number }[];
}

/**
 * Back to the block that had its confirmations before the record at `end`: what is older has been delivered, or is gone.
 * A rewind lowers what is delivered to the block that stays; the branch after it delivers nothing again.
 */
function readBack(records: RecordsInMemory, end: number, confirmations: number, floor: number): Before | NotInMemory {
  const standing: { position: number; height: number }[] = [];
  let tip: number | null = null;
  /** Newest height that all rewinds up to `end` leave. */
  let stays = Number.POSITIVE_INFINITY;
  let delivered = -1;
  let wanted = confirmations;
  for (let position = end - 1; position >= floor; position -= 1) {
    if (end - position > MOST_LOOKED_BACK) return { position, isTooFar: true };
    const change = records.change(position);
    if (!change) return { position: firstMissing(records, position, Math.max(floor, position - wanted)) };
    const { kind, height } = change;
    if (kind !== 'correction') tip ??= height;
    if (kind === 'rewind') stays = Math.min(stays, height);
    else if (height <= stays) standing.push({ position, height });
    if (kind === 'block') delivered = Math.max(delivered, Math.min(height - confirmations, stays));
    if (tip === null || kind !== 'block' || height > stays) continue;
    wanted = height - (tip - confirmations);
    if (wanted <= 0) break;
  }
  return { delivered, standing: standing.reverse() };
}

/** Start of the records up to `position` that are not in memory: reads go forward. */
function firstMissing(records: RecordsInMemory, position: number, from: number): number {
  let first = position;
  while (first > from && !records.change(first - 1)) first -= 1;
  return first;
}

/** It shares the text of the event itself, but for an undo, which takes away less than the rewind: only what was delivered. */
function confirmed(event: PushEvent, place: FeedPlace, confirmations: number, delivered: number): PushEvent {
  if (event.channel !== 'undo') return { ...event, place, confirmations, head: headOf({ ...event, confirmations }) };
  const data = () => JSON.stringify({ ...JSON.parse(event.data()), fromHeight: delivered });
  return pushEvent({ ...event, place, confirmations, data });
}
