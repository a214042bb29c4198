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
  /** Whether the client takes too long over one. */
  isLate(now: number): boolean;
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
/** Between two reads of a store that is away: `/api/health/ready` names it. */
const RETRY_MS = 1_000;
/** A snapshot is held in memory while it is being sent. */
const LONGEST_MS = 60_000;

interface Due {
  readonly key: SubscriptionKey;
  readonly subscription: Subscription;
  isReading: boolean;
  taken: TakenSnapshot | null;
  /** When the sending began. */
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

export function createSnapshotSender(options: SnapshotSenderOptions): SnapshotSender {
  const { share, pace, wake } = options;
  const closing = new AbortController();
  let due: Due[] = [];
  let again: NodeJS.Timeout | null = null;

  const takeFor = ({ subscription }: Due) => options.take(new Set(subscription.snapshot), share.network);

  async function read(one: Due, first: Promise<TakenSnapshot>): Promise<void> {
    let taken = await first;
    // The state follows to a place of which another process has notified the client. Without a pause nothing else would run.
    while (options.isPast(taken.places) && options.isHeld(one.subscription)) {
      taken.release();
      await sleep(AHEAD_MS, undefined, { signal: closing.signal });
      const later = takeFor(one);
      if (later === null) {
        one.isReading = false;
        wake();
        return;
      }
      taken = await later;
    }
    try {
      share.order(Math.ceil(taken.rows / ROWS_A_UNIT)); // the next one waits for it
      if (pace.isSpent()) await pace.rest();
      closing.signal.throwIfAborted();
    } catch (error) {
      taken.release();
      throw error;
    }
    Object.assign(one, { taken, isReading: false, since: performance.now() });
    wake();
  }

  function readNext(): void {
    const [one] = due;
    if (!one || one.isReading || one.taken || again || !options.isAtEnd()) return;
    if (!options.isHeld(one.subscription)) {
      drop(one);
      return;
    }
    const unpaidMs = share.order(0);
    const reading = unpaidMs > 0 ? null : takeFor(one);
    if (reading) start(one, reading);
    else lookAgainIn(Math.max(unpaidMs, FULL_MS));
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
      if (error instanceof RetryableError || postgresTrouble(error)) {
        one.isReading = false;
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
      due.push({ key, subscription, isReading: false, taken: null, since: 0, list: 0, row: 0, part: 0 });
    },
    readNext,
    send,
    isLate: (now) => due[0]?.taken != null && now - due[0].since > LONGEST_MS,
    close() {
      closing.abort();
      if (again) clearTimeout(again);
      for (const { taken } of due) taken?.release();
      due = [];
    },
  };
}
