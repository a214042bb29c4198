/**
 * Sends the snapshots that one connection has asked for, one after the other. Events continue until the connection has received all of
 * them and there is room for a snapshot; then the snapshot is read, and sent in parts before any further event.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pace } from '../../infra/pace.ts';
import { postgresTrouble } from '../../infra/postgres/postgres-errors.ts';
import { RetryableError } from '../../schemas/errors.ts';
import type { FeedPlaces } from './cursor.ts';
import { ROWS_A_UNIT } from './limits.ts';
import type { NetworkShare } from './network-share.ts';
import type { TakenSnapshot, TakeSnapshot } from './snapshots.ts';
import type { Subscription } from './subscription.ts';
import type { SubscriptionKey } from './subscription-set.ts';

export interface SnapshotSender {
  /** Whether a requested snapshot has not been sent completely. */
  isDue(): boolean;
  /** While a snapshot is being read, no event may be sent: the snapshot's place may be before the event. */
  isReading(): boolean;
  /** Whether there is a part to send now: the connection has reached the snapshot's places. */
  isReady(): boolean;
  /** Places of the next snapshot, once it has been read. */
  places(): FeedPlaces | null;
  ask(key: SubscriptionKey, subscription: Subscription): void;
  /** Reads the next snapshot if it is time for it; tries again later if there is no room. */
  readNext(): void;
  /** Sends one part. */
  send(): void;
  /** Call it periodically. Returns false if the client takes too long to receive a snapshot. */
  isInTime(now: number): boolean;
  close(): void;
}

export interface SnapshotSenderOptions {
  readonly take: TakeSnapshot;
  readonly share: NetworkShare;
  readonly pace: Pace;
  /** Whether the connection has received all existing events, and accepts more. */
  readonly isAtEnd: () => boolean;
  /** Whether the connection has received the events before these places. */
  readonly isReached: (places: FeedPlaces) => boolean;
  /** Whether the connection has received events after these places: such a snapshot is too old. */
  readonly isPast: (places: FeedPlaces) => boolean;
  /** Whether the subscription still exists. */
  readonly isHeld: (subscription: Subscription) => boolean;
  /** Sends `members`, the JSON of an object without its closing brace. */
  readonly say: (members: string) => void;
  /** Starts the events of the subscription at the places of its snapshot. */
  readonly begin: (subscription: Subscription, places: FeedPlaces) => void;
  /** Called when a store is unreachable; the snapshot is read again later. */
  readonly warn: (error: unknown) => void;
  /** Ends the connection because of a fault of the service. */
  readonly fail: (error: unknown) => void;
  /** Called when the subscription cannot have its snapshot. @throws an error that is not the client's fault */
  readonly refuse: (key: SubscriptionKey, subscription: Subscription, error: unknown) => void;
  readonly wake: () => void;
}

/** Approximate characters of rows in a part. */
const PART_CHARACTERS = 32 * 1024;
/** Most rows examined for a part: few of them may pass the filter. */
const PART_ROWS = 1_000;
/** Interval between two checks whether there is room for a snapshot. */
const FULL_MS = 50;
/** Interval between two checks whether the state has reached the connection's place. */
const AHEAD_MS = 250;
/** Pause between two reads of an unreachable store. */
const RETRY_MS = 1_000;
/** Longest time to send a snapshot, which is held in memory until then. */
const LONGEST_MS = 60_000;

interface Due {
  readonly key: SubscriptionKey;
  readonly subscription: Subscription;
  /** When all work that the network reserved before this snapshot is done; null until the snapshot is the next one. */
  payableAt: number | null;
  isReading: boolean;
  isTriedAgain: boolean;
  taken: TakenSnapshot | null;
  /** When it was taken; later, when its first part was sent. */
  since: number;
  list: number;
  row: number;
  part: number;
}

/** Encodes the next part; null if there is none. `members` is the JSON of an object without its last member and closing brace. */
function nextPart(one: Due, all: TakenSnapshot['lists']): { members: string; isLast: boolean } | null {
  const { subscription, key } = one;
  const lists = all.filter(({ chain, channel }) => {
    return subscription.chains.has(chain) && subscription.channels.has(channel);
  });
  const list = lists[one.list];
  if (!list) return null;
  const texts: string[] = [];
  let characters = 0;
  const end = Math.min(list.rows.length, one.row + PART_ROWS);
  for (; one.row < end && characters < PART_CHARACTERS; one.row += 1) {
    const row = list.rows[one.row];
    if (!row || !subscription.matches(row.event)) continue;
    const text = `{"height":${row.height}${row.event.tail()}`; // encoded once for all clients
    characters += text.length;
    texts.push(text);
  }
  one.part += 1;
  if (one.row >= list.rows.length) {
    one.list += 1;
    one.row = 0;
  }
  const { channel, chain, since } = list;
  const about = { type: 'snapshot', id: typeof key === 'symbol' ? null : key, channel, chain, since, part: one.part };
  const members = `${JSON.stringify(about).slice(0, -1)},"rows":[${texts.join()}]`;
  return { members, isLast: one.list >= lists.length };
}

/** Whether a retry may help. A statement that Postgres cancelled because it took too long would take as long again. */
function isPassing(error: unknown): boolean {
  const trouble = postgresTrouble(error);
  return trouble ? trouble.code !== 'postgres_interrupted' : error instanceof RetryableError;
}

const takeFor = ({ subscription }: Due, { take, share }: SnapshotSenderOptions) =>
  take(new Set(subscription.snapshot), share.network);

/** Waits until the snapshot is new enough and charges its rows. Returns null if there is no room for a newer one that is needed. */
async function readPaid(
  one: Due,
  first: Promise<TakenSnapshot>,
  options: SnapshotSenderOptions,
  signal: AbortSignal,
): Promise<TakenSnapshot | null> {
  let taken = await first;
  // The client has its place from another process, and this state follows later. Without a pause nothing else would run.
  while (options.isPast(taken.places) && options.isHeld(one.subscription)) {
    taken.release();
    await sleep(AHEAD_MS, undefined, { signal });
    const later = takeFor(one, options);
    if (later === null) return null;
    taken = await later;
  }
  try {
    options.share.order(Math.ceil(taken.rows / ROWS_A_UNIT)); // the next snapshot waits for it
    if (options.pace.isSpent()) await options.pace.rest();
    signal.throwIfAborted();
  } catch (error) {
    taken.release();
    throw error;
  }
  return taken;
}

export function createSnapshotSender(options: SnapshotSenderOptions): SnapshotSender {
  const { share, wake } = options;
  const closing = new AbortController();
  let due: Due[] = [];
  let again: NodeJS.Timeout | null = null;

  async function read(one: Due, first: Promise<TakenSnapshot>): Promise<void> {
    const taken = await readPaid(one, first, options, closing.signal);
    Object.assign(one, { taken, isReading: false, since: performance.now() });
    wake();
  }

  function readNext(): void {
    if (forgetEnded()) wake();
    const [one] = due;
    if (!one || one.isReading || one.taken || again || !options.isAtEnd()) return;
    const now = performance.now();
    one.payableAt ??= now + share.order(0);
    const reading = now < one.payableAt ? null : takeFor(one, options);
    if (reading) start(one, reading);
    else lookAgainIn(Math.max(one.payableAt - now, FULL_MS));
  }

  /** Drops the snapshots of ended subscriptions, except one that is being read or sent. Returns whether there were any. */
  function forgetEnded(): boolean {
    const before = due.length;
    due = due.filter((one) => one.isReading || one.taken || options.isHeld(one.subscription));
    return due.length < before;
  }

  function lookAgainIn(ms: number): void {
    again = setTimeout(() => {
      again = null;
      readNext();
    }, ms);
  }

  function drop(one: Due): void {
    one.taken?.release();
    due = due.filter((other) => other !== one);
    wake();
  }

  function start(one: Due, reading: Promise<TakenSnapshot>): void {
    one.isReading = true;
    read(one, reading).catch((error: unknown) => {
      if (closing.signal.aborted) return;
      if (isPassing(error)) {
        if (!one.isTriedAgain) options.warn(error);
        Object.assign(one, { isReading: false, isTriedAgain: true });
        lookAgainIn(RETRY_MS);
        wake();
        return;
      }
      drop(one);
      try {
        options.refuse(one.key, one.subscription, error);
      } catch (fault) {
        options.fail(fault);
      }
    });
  }

  /** Takes the snapshot again: the connection has moved on, as after a `resync`, so its next events do not follow this snapshot. */
  function takeAgain(one: Due): void {
    one.taken?.release();
    Object.assign(one, { taken: null, list: 0, row: 0, part: 0 });
    wake();
  }

  function send(): void {
    const [one] = due;
    if (!one?.taken) return;
    if (options.isPast(one.taken.places)) {
      takeAgain(one);
      return;
    }
    if (one.part === 0) one.since = performance.now();
    const part = options.isHeld(one.subscription) ? nextPart(one, one.taken.lists) : null;
    // Before the cursor of the last part is made: events follow from this cursor on.
    if (part?.isLast) options.begin(one.subscription, one.taken.places);
    if (!part || part.isLast) drop(one);
    if (part) options.say(`${part.members},"last":${part.isLast}`);
  }

  return {
    isDue: () => due.length > 0,
    isReading: () => due[0]?.isReading === true,
    places: () => due[0]?.taken?.places ?? null,
    isReady: () => due[0]?.taken != null && options.isReached(due[0].taken.places),
    ask(key, subscription) {
      forgetEnded();
      const state = { payableAt: null, isReading: false, isTriedAgain: false, taken: null };
      due.push({ key, subscription, ...state, since: 0, list: 0, row: 0, part: 0 });
    },
    readNext,
    send,
    isInTime(now) {
      const [one] = due;
      if (!one?.taken || now - one.since <= LONGEST_MS) return true;
      if (one.part > 0) return false;
      takeAgain(one); // the connection has not reached the snapshot's places
      return true;
    },
    close() {
      closing.abort();
      if (again) clearTimeout(again);
      for (const { taken } of due) taken?.release();
      due = [];
    },
  };
}
