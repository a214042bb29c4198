/**
 * The events that a record releases to subscribers with `confirmations`: those of the blocks that reach this number of further blocks
 * on top with this record. They depend only on the records up to this one, so a place among them stays valid like any other place.
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
  /** Place from which a reader of these events continues. */
  readonly after: FeedPlace;
}

export interface NotInMemory {
  /** Position of the record to read first. */
  readonly position: number;
  /** Set if the record is so many records back that it is not read. */
  readonly isTooFar?: boolean;
}

export interface MissingRecord extends NotInMemory {
  readonly feed: FeedKey;
}

/** Most earlier records that are examined: a hundred blocks, with more reorganisations of them than any chain has. */
export const MOST_LOOKED_BACK = 10_000;
/** In the index of a place, confirmed events follow the record's own events, ordered by their confirmations. */
const INDEX_OF_CONFIRMATIONS = 2 ** 32;

/**
 * Returns the next events of the record at a place, for the smallest number of confirmations that is left: a reader needs only one
 * record in memory at a time, and an event is copied only when it is read.
 * @param confirmations ascending
 * @param floor oldest position that is examined: the log no longer has the records before it
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

/** `first` is the index of the first event to return among all events that the record confirms. */
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
  /** Blocks that are still on the chain, and their corrections, in order. */
  readonly standing: readonly { readonly position: number; readonly height: number }[];
}

/**
 * Reads back to the block that was already confirmed before the record at `end`: older blocks have been delivered, or are gone.
 * A rewind lowers `delivered` to the block that stays; the new branch does not deliver blocks up to there again.
 */
function readBack(records: RecordsInMemory, end: number, confirmations: number, floor: number): Before | NotInMemory {
  const standing: { position: number; height: number }[] = [];
  let tip: number | null = null;
  /** Newest height that stays after all rewinds from here to `end`. */
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

/** Returns the first of the records up to `position` that are not in memory, because the log is read forwards. */
function firstMissing(records: RecordsInMemory, position: number, from: number): number {
  let first = position;
  while (first > from && !records.outline(first - 1)) first -= 1;
  return first;
}

/** Copies an event and shares its text. An undo gets its own text, because it reverts less than the rewind: only what was delivered. */
function confirmed(event: PushEvent, place: FeedPlace, confirmations: number, delivered: number): PushEvent {
  if (event.channel !== 'undo') {
    const { type, chain } = event;
    return { ...event, place, confirmations, head: headOf({ type, chain, confirmations }) };
  }
  const data = () => JSON.stringify({ ...JSON.parse(event.data()), fromHeight: delivered });
  return pushEvent({ ...event, place, confirmations, data });
}
