/** Where the chains' feeds and the clients meet: one reader a chain, one encoding an event, however many listen. */
import type { Logger } from '../../infra/logger.ts';
import { VerustreamError } from '../../schemas/errors.ts';
import type { ChainFeed, FeedRecord } from './chain-feed.ts';
import type { Connection, LiveEvent } from './connection.ts';
import { encodePlaces, type FeedKey, type Place, type Places } from './cursor.ts';
import type { Tip } from './feed-topic.ts';
import { placeAfter } from './places.ts';
import { sharedMessage } from './push-event.ts';
import type { IdsOf } from './subscription.ts';

export interface Hub {
  readonly chains: readonly string[];
  readonly feeds: readonly ChainFeed[];
  readonly idsOf: IdsOf;
  readonly logger: Logger;
  /** Where a live client stands. */
  places(): Places;
  isAt(places: Places): boolean;
  tips(): Readonly<Record<string, Tip | null>>;
  /** A record that load() has read for somebody. */
  loaded(feed: FeedKey, position: number): FeedRecord | undefined;
  /** Reads records from a position on into memory; false when the log no longer keeps it. */
  load(feed: FeedKey, position: number): Promise<boolean>;
  add(connection: Connection): void;
  remove(connection: Connection): void;
  connections(): Iterable<Connection>;
  count(): number;
  publish(feed: ChainFeed, record: FeedRecord): void;
}

export interface HubOptions {
  readonly chains: readonly string[];
  readonly feeds: readonly ChainFeed[];
  readonly idsOf: IdsOf;
  readonly logger: Logger;
}

/** Records read for clients that catch up, shared by those that are at about the same place. */
const LOADED_RECORDS = 2_000;

export function createHub({ chains, feeds, idsOf, logger }: HubOptions): Hub {
  const connections = new Set<Connection>();
  const loaded = new Map<string, FeedRecord>();
  const loading = new Map<string, Promise<boolean>>();
  const keyOf = (feed: FeedKey, position: number) => `${feed} ${position}`;

  const places = (): Map<string, Place> => new Map(feeds.map((feed) => [feed.key, { position: feed.head, index: 0 }]));

  async function read(key: FeedKey, position: number): Promise<boolean> {
    const feed = feeds.find((candidate) => candidate.key === key);
    if (!feed) return false;
    try {
      for (const record of await feed.load(position)) loaded.set(keyOf(key, record.position), record);
    } catch (error) {
      if (error instanceof VerustreamError && error.code === 'log_gap') return false;
      throw error;
    }
    for (const oldest of loaded.keys()) {
      if (loaded.size <= LOADED_RECORDS) break;
      loaded.delete(oldest);
    }
    return loaded.has(keyOf(key, position));
  }

  return {
    chains,
    feeds,
    idsOf,
    logger,
    places,
    isAt: (at) =>
      feeds.every(({ key, head }) => {
        const place = at.get(key);
        return place?.position === head && place.index === 0;
      }),
    tips: () => Object.fromEntries(feeds.flatMap(({ chain, key, tip }) => (key === chain ? [[chain, tip]] : []))),
    loaded: (feed, position) => loaded.get(keyOf(feed, position)),
    load(feed, position) {
      const key = keyOf(feed, position);
      let flight = loading.get(key);
      if (!flight) {
        flight = read(feed, position).finally(() => loading.delete(key));
        loading.set(key, flight);
      }
      return flight;
    },
    add: (connection) => void connections.add(connection),
    remove: (connection) => void connections.delete(connection),
    connections: () => connections,
    count: () => connections.size,
    publish(feed, record) {
      // No topics of uWebSockets.js: each connection counts its own messages, and knows where it stands when its socket is full.
      const at = places();
      const events = record.events.map((event): LiveEvent => {
        at.set(feed.key, placeAfter(event));
        const cursor = encodePlaces(at);
        let shared: LiveEvent['message'] | null = null;
        const message = (seq: number) => {
          shared ??= sharedMessage(event, cursor);
          return shared(seq);
        };
        return { event, cursor, message };
      });
      for (const connection of connections) {
        if (connection.isLive) connection.offer(events);
        else connection.wake();
      }
    },
  };
}
