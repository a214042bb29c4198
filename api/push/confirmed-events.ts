/**
 * The events that a record brings to subscribers with `confirmations`: those of the blocks that have so many further blocks on top
 * of them from this record on. It follows from the records before it alone, so a place in the stream lasts as all places do.
 */
import type { ChainChange } from './chain-change.ts';
import type { FeedRecord } from './chain-feed.ts';
import type { FeedKey, FeedPlace } from './cursor.ts';
import { headOf, type PushEvent, pushEvent } from './push-event.ts';

export interface RecordOutline {
  readonly change: ChainChange;
  /** Number of its events. */
  readonly size: number;
}

/** Records of one topic of a chain, as far as they are in memory. */
export interface RecordsInMemory {
  outline(position: number): RecordOutline | undefined;
  record(position: number): FeedRecord | undefined;
}

/** Events that can be sent with one record in memory. */
export interface EventPart {
  readonly events: Iterable<PushEvent>;
  /** Where a reader of these events goes on. */
  readonly after: FeedPlace;
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

/**
 * The next events of the record at a place, for the smallest number of confirmations that is left: a reader holds one record at a time,
 * and an event is copied when it is its turn.
 * @param confirmations ascending
 * @param floor no record below it is looked at: the log no longer has it
 */
export function nextEvents(
  records: RecordsInMemory,
  { position, index }: FeedPlace,
  confirmations: readonly number[],
  floor = 0,
): EventPart | NotInMemory {
  const reached = Math.floor(index / INDEX_OF_CONFIRMATIONS);
  const count = confirmations.find((left) => left >= reached);
  const next = { position: position + 1, index: 0 };
  if (count === undefined) return { events: [], after: next };
  const isLast = count === confirmations.at(-1);
  const after = isLast ? next : { position, index: (count + 1) * INDEX_OF_CONFIRMATIONS };
  if (count > 0) {
    const first = count === reached ? index % INDEX_OF_CONFIRMATIONS : 0;
    return nextConfirmed(records, { position, first }, { count, floor, after });
  }
  const record = records.record(position);
  return record ? { events: eventsFrom(record, index), after } : { position };
}

function* eventsFrom({ events }: FeedRecord, index: number): Generator<PushEvent> {
  for (const event of events) if (event.place.index >= index) yield event;
}

/** @param at `first`: number of the first event among all that the record confirms */
function nextConfirmed(
  records: RecordsInMemory,
  { position, first }: { readonly position: number; readonly first: number },
  { count, floor, after }: { readonly count: number; readonly floor: number; readonly after: FeedPlace },
): EventPart | NotInMemory {
  const change = records.outline(position)?.change;
  if (!change) return { position };
  const before = readBack(records, position, count, floor);
  if ('position' in before) return before;
  const sources = sourcesOf(change, position, count, before);
  const base = count * INDEX_OF_CONFIRMATIONS;
  let end = 0;
  for (const source of sources) {
    const size = records.outline(source)?.size;
    if (size === undefined) return { position: source };
    const start = end;
    end += size;
    if (first >= end) continue;
    const record = records.record(source);
    if (!record) return { position: source };
    const place = { position, index: base + start };
    const events = confirmedFrom(record, Math.max(0, first - start), place, count, before.delivered);
    return { events, after: source === sources.at(-1) ? after : { position, index: base + end } };
  }
  return { events: [], after };
}

function* confirmedFrom(
  { events }: FeedRecord,
  from: number,
  { position, index }: FeedPlace,
  confirmations: number,
  delivered: number,
): Generator<PushEvent> {
  for (let number = from; number < events.length; number += 1) {
    const event = events[number];
    if (event) yield confirmed(event, { position, index: index + number }, confirmations, delivered);
  }
}

/** All events of a record for one number of confirmations. */
export function confirmedEvents(
  records: RecordsInMemory,
  position: number,
  confirmations: number,
): readonly PushEvent[] | NotInMemory {
  const all: PushEvent[] = [];
  for (let at: FeedPlace = { position, index: 0 }; at.position === position; ) {
    const part = nextEvents(records, at, [confirmations]);
    if ('position' in part) return part;
    for (const event of part.events) all.push(event);
    at = part.after;
  }
  return all;
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
    const change = records.outline(position)?.change;
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
  while (first > from && !records.outline(first - 1)) first -= 1;
  return first;
}

/** It shares the text of the event itself, but for an undo, which takes away less than the rewind: only what was delivered. */
function confirmed(event: PushEvent, place: FeedPlace, confirmations: number, delivered: number): PushEvent {
  if (event.channel !== 'undo') {
    const { type, chain } = event;
    return { ...event, place, confirmations, head: headOf({ type, chain, confirmations }) };
  }
  const data = () => JSON.stringify({ ...JSON.parse(event.data()), fromHeight: delivered });
  return pushEvent({ ...event, place, confirmations, data });
}
