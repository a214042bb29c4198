/**
 * The snapshots that one connection has asked for, one after the other. Events go on until the connection has had all of them and there is
 * room for a snapshot; then it is read, and sent in parts before any further event.
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
  /** Whether one is asked for that has not been sent to its end. */
  isDue(): boolean;
  /** While one is being read, no event may be sent: it may stand before the event. */
  isReading(): boolean;
  /** Whether there is a part to send now: the connection stands where the snapshot does. */
  isReady(): boolean;
  /** Where the snapshot that comes next stands, once it has been read. */
  places(): FeedPlaces | null;
  ask(key: SubscriptionKey, subscription: Subscription): void;
  /** Reads the one that comes next if it is time for it, and looks again if there is no room. */
  readNext(): void;
  /** Sends one part. */
  send(): void;
  /** Call it from time to time. False when the client takes too long over one. */
  isInTime(now: number): boolean;
  close(): void;
}

export interface SnapshotSenderOptions {
  readonly take: TakeSnapshot;
  readonly share: NetworkShare;
  readonly pace: Pace;
  /** Whether the connection has had all events that there are, and takes more. */
  readonly isAtEnd: () => boolean;
  /** Whether the connection has had the events before these places. */
  readonly isReached: (places: FeedPlaces) => boolean;
  /** Whether it has had later ones: such a snapshot is too old. */
  readonly isPast: (places: FeedPlaces) => boolean;
  /** Whether the subscription is still there. */
  readonly isHeld: (subscription: Subscription) => boolean;
  /** Sends `members`, JSON of an object without its last brace. */
  readonly say: (members: string) => void;
  /** Begins the events of the subscription at the places of its snapshot. */
  readonly begin: (subscription: Subscription, places: FeedPlaces) => void;
  /** A store is away: the reading is tried again. */
  readonly warn: (error: unknown) => void;
  /** Ends the connection because of a fault of the service. */
  readonly fail: (error: unknown) => void;
  /** The subscription cannot have its snapshot. @throws an error that is not the client's */
  readonly refuse: (key: SubscriptionKey, subscription: Subscription, error: unknown) => void;
  readonly wake: () => void;
}

/** Characters of rows in a part, about. */
const PART_CHARACTERS = 32 * 1024;
/** Rows looked at for a part: few of them may pass a filter. */
const PART_ROWS = 1_000;
/** Between two looks whether there is room for a snapshot. */
const FULL_MS = 50;
/** Between two looks whether the state has reached the connection's place. */
const AHEAD_MS = 250;
/** Between two reads of a store that is away. */
const RETRY_MS = 1_000;
/** A snapshot is held in memory until it has been sent. */
const LONGEST_MS = 60_000;

interface Due {
  readonly key: SubscriptionKey;
  readonly subscription: Subscription;
  /** When all work that the network had ordered before it is done; null until it is the next one. */
  payableAt: number | null;
  isReading: boolean;
  isTriedAgain: boolean;
  taken: TakenSnapshot | null;
  /** When it was taken, then when its first part was sent. */
  since: number;
  list: number;
  row: number;
  part: number;
}

/** Moves on by one part; null when there is none. `members`: JSON of an object without its last member and brace. */
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
    const text = `{"height":${row.height}${row.event.tail()}`; // made once for all clients
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

/** A statement that Postgres cancelled for its length would be as long again. */
function isPassing(error: unknown): boolean {
  const trouble = postgresTrouble(error);
  return trouble ? trouble.code !== 'postgres_interrupted' : error instanceof RetryableError;
}

const takeFor = ({ subscription }: Due, { take, share }: SnapshotSenderOptions) =>
  take(new Set(subscription.snapshot), share.network);

/** Null when there is no room for a newer one that is needed. */
async function readPaid(
  one: Due,
  first: Promise<TakenSnapshot>,
  options: SnapshotSenderOptions,
  signal: AbortSignal,
): Promise<TakenSnapshot | null> {
  let taken = await first;
  // The state follows to a place of which another process has notified the client. Without a pause nothing else would run.
  while (options.isPast(taken.places) && options.isHeld(one.subscription)) {
    taken.release();
    await sleep(AHEAD_MS, undefined, { signal });
    const later = takeFor(one, options);
    if (later === null) return null;
    taken = await later;
  }
  try {
    options.share.order(Math.ceil(taken.rows / ROWS_A_UNIT)); // the next one waits for it
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

  /** Forgets those of subscriptions that are no more, but for one that is being read or sent; whether there were any. */
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

  /** The connection had to move on, as after a `resync`: what follows this snapshot would not be what comes next. */
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
    // Before the cursor of the last part is made: it is the one that events follow.
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
      takeAgain(one); // the connection has not come to where it stands
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
