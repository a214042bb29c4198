/** Connects the chains' feeds with the clients: one reader per chain and one encoding per event, for any number of clients. */
import { LRUCache } from 'lru-cache';
import { LogGap } from '../../infra/event-log/log-errors.ts';
import type { Logger } from '../../infra/logger.ts';
import { createPace, type Pace } from '../../infra/pace.ts';
import { createFlights } from '../../infra/shared.ts';
import type { MempoolJournal } from '../mempool/journal.ts';
import { createCatchUp, type Served } from './catch-up.ts';
import type { ChainFeed, FeedRecord } from './chain-feed.ts';
import type { Filter } from './client-message.ts';
import {
  confirmedEvents,
  type EventPart,
  MOST_LOOKED_BACK,
  type NotInMemory,
  nextEvents,
  type RecordOutline,
  type RecordsInMemory,
} from './confirmed-events.ts';
import { encodePlaces, type FeedKey, type FeedPlace, type FeedPlaces } from './cursor.ts';
import type { ChainTip } from './feed-topic.ts';
import { CATCHING_UP, LOADED, mempoolWork } from './limits.ts';
import { placeAfter } from './places.ts';
import type { PushConnection } from './push-connection.ts';
import { type PushEvent, sharedMessage } from './push-event.ts';
import { createRecordCache } from './record-cache.ts';
import type { TakeSnapshot } from './snapshots.ts';
import type { IdsOf } from './subscription.ts';
import type { LiveEvent } from './transport.ts';

export interface Hub {
  readonly chains: readonly string[];
  readonly feeds: readonly ChainFeed[];
  readonly idsOf: IdsOf;
  /** Call it before the names of a filter are looked up: refreshes the known currencies; null if there is nothing to wait for. */
  readonly readCurrencies: (filter: Filter) => Promise<void> | null;
  readonly takeSnapshot: TakeSnapshot;
  readonly logger: Logger;
  /** One for each chain whose mempool is followed. */
  readonly mempools: readonly MempoolJournal[];
  /** By chain: the i-address of its own currency. */
  readonly nativeIds: ReadonlyMap<string, string>;
  /** Work units of a subscription to these channels, in addition to those of its filter. */
  workOf(channels: readonly string[] | undefined): number;
  /** Pace of all clients that catch up. */
  readonly pace: Pace;
  /** Pace of all messages from clients. */
  readonly messagePace: Pace;
  /** Position of the live clients. */
  places(): FeedPlaces;
  isAt(places: FeedPlaces): boolean;
  tips(): Readonly<Record<string, ChainTip | null>>;
  /** The next events at a place for subscribers with these numbers of confirmations, ascending; examines no record below `floor`. */
  nextEvents(
    feed: ChainFeed,
    place: FeedPlace,
    confirmations: readonly number[],
    floor?: number,
  ): EventPart | NotInMemory;
  /** Reads records from a position on into memory; resolves to false if the log no longer keeps the record at the position. */
  load(feed: FeedKey, position: number): Promise<boolean>;
  /** Gives a client that is not live its turns until it has no more to do. */
  serve(client: Served): void;
  add(connection: PushConnection): void;
  remove(connection: PushConnection): void;
  connections(): Iterable<PushConnection>;
  count(): number;
  publish(feed: ChainFeed, record: FeedRecord): void;
  /** The head of the feed moved on from `from` while no client listened, or only clients that connected during the move. */
  skip(feed: ChainFeed, from: number): void;
}

export interface HubOptions {
  readonly chains: readonly string[];
  readonly feeds: readonly ChainFeed[];
  readonly idsOf: IdsOf;
  /** By default nothing is refreshed: currencies have the addresses that `idsOf` knows. */
  readonly readCurrencies?: Hub['readCurrencies'];
  /** By default every request for a snapshot fails. */
  readonly takeSnapshot?: TakeSnapshot;
  readonly logger: Logger;
  readonly mempools?: readonly MempoolJournal[];
  readonly nativeIds?: ReadonlyMap<string, string>;
  /** For tests. */
  readonly pace?: Pace;
  readonly messagePace?: Pace;
}

/** Catching up takes at most half of the process' time, in slices too short to notice. */
const PACE = { sliceMs: 5, restMs: 5 };
/** Record outlines that are kept in memory per feed, for subscribers with confirmations. */
const OUTLINES = 2 * MOST_LOOKED_BACK;
/** Longest time to send a record to live clients without a pause; the remaining clients then catch up. */
const PUBLISH_MS = 50;

const NO_SNAPSHOTS: TakeSnapshot = () => Promise.reject(new TypeError('this hub has no snapshots'));

export function createHub({ chains, feeds, idsOf, logger, mempools = [], ...options }: HubOptions): Hub {
  const { pace = createPace(PACE), messagePace = createPace(PACE), takeSnapshot = NO_SNAPSHOTS } = options;
  const connections = new Set<PushConnection>();
  const catchUp = createCatchUp(CATCHING_UP, pace);
  const loaded = createRecordCache<string, FeedRecord>(LOADED);
  const flights = createFlights<string, boolean>();
  const keyOf = (feed: FeedKey, position: number) => `${feed} ${position}`;

  const places = (): Map<string, FeedPlace> =>
    new Map(feeds.map((feed) => [feed.key, { position: feed.head, index: 0 }]));

  const outlines = new Map(feeds.map(({ key }) => [key, new LRUCache<number, RecordOutline>({ max: OUTLINES })]));

  function recordsOf(feed: ChainFeed): RecordsInMemory {
    const record = (position: number) => feed.recent(position) ?? loaded.get(keyOf(feed.key, position));
    const outline = (position: number) => {
      const known = outlines.get(feed.key)?.get(position);
      if (known) return known;
      const found = record(position);
      return found && outlineOf(found);
    };
    return { record, outline };
  }

  function remember(key: FeedKey, record: FeedRecord): void {
    outlines.get(key)?.set(record.position, outlineOf(record));
  }

  async function read(key: FeedKey, position: number): Promise<boolean> {
    const feed = feeds.find((candidate) => candidate.key === key);
    if (!feed) return false;
    try {
      for (const record of await feed.load(position, pace)) {
        loaded.set(keyOf(key, record.position), record);
        remember(key, record);
      }
    } catch (error) {
      if (error instanceof LogGap) return false;
      throw error;
    }
    return loaded.has(keyOf(key, position));
  }

  return {
    chains,
    feeds,
    idsOf,
    readCurrencies: options.readCurrencies ?? (() => null),
    takeSnapshot,
    logger,
    mempools,
    nativeIds: options.nativeIds ?? new Map(),
    workOf: (channels) => (channels?.includes('mempool') ? mempoolWork(waitingIn(mempools)) : 0),
    pace,
    messagePace,
    places,
    isAt: (at) =>
      feeds.every(({ key, head }) => {
        const place = at.get(key);
        return place?.position === head && place.index === 0;
      }),
    tips: () => Object.fromEntries(feeds.flatMap(({ chain, key, tip }) => (key === chain ? [[chain, tip]] : []))),
    nextEvents: (feed, ...where) => nextEvents(recordsOf(feed), ...where),
    load: (feed, position) => flights(keyOf(feed, position), () => read(feed, position)),
    serve: catchUp.request,
    add(connection) {
      if (connections.size === 0) for (const feed of feeds) feed.join();
      connections.add(connection);
    },
    remove: (connection) => void connections.delete(connection),
    connections: () => connections,
    count: () => connections.size,
    publish(feed, record) {
      // uWebSockets.js' own topics cannot do this: each connection numbers its messages and keeps its position when its socket is full.
      const before = places();
      before.set(feed.key, { position: record.position, index: 0 });
      remember(feed.key, record);
      const end = performance.now() + PUBLISH_MS;
      const isOver = () => performance.now() >= end;
      /** Events by number of confirmations; null if a record must be read first, or the time is over. */
      const confirmed = new Map<number, readonly LiveEvent[] | null>();
      const eventsFor = (confirmations: number): readonly LiveEvent[] | null => {
        const known = confirmed.get(confirmations);
        if (known !== undefined) return known;
        if (confirmations > 0 && isOver()) return null;
        const events =
          confirmations > 0 ? confirmedEvents(recordsOf(feed), record.position, confirmations) : record.events;
        const made = 'position' in events ? null : events.map((event) => liveEvent(event, before));
        confirmed.set(confirmations, made);
        return made;
      };
      let isLate = false;
      for (const connection of connections) {
        if (!connection.isLive) connection.wake();
        else if (isLate || !connection.offer(eventsFor)) connection.fallBehind(before);
        else isLate = isOver();
      }
    },
    skip(feed, from) {
      const before = places();
      before.set(feed.key, { position: from, index: 0 });
      for (const connection of connections) connection.skip(feed, before);
    },
  };
}

function outlineOf({ change, events }: FeedRecord): RecordOutline {
  return { change, size: events.length };
}

function waitingIn(mempools: readonly MempoolJournal[]): number {
  return mempools.reduce((sum, { count }) => sum + count, 0);
}

/** Its text is encoded when the first client needs it. */
function liveEvent(event: PushEvent, before: FeedPlaces): LiveEvent {
  let cursor: string | null = null;
  let shared: LiveEvent['message'] | null = null;
  const live: LiveEvent = {
    event,
    get cursor() {
      cursor ??= encodePlaces(new Map(before).set(event.feed, placeAfter(event)));
      return cursor;
    },
    message(seq) {
      shared ??= sharedMessage(event, live.cursor);
      return shared(seq);
    },
  };
  return live;
}
