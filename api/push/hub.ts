/** Where the chains' feeds and the clients meet: one reader a chain, one encoding an event, however many listen. */
import type { Logger } from '../../infra/logger.ts';
import { VerustreamError } from '../../schemas/errors.ts';
import type { ChainFeed, FeedRecord, Tip } from './chain-feed.ts';
import type { Connection, LiveEvent } from './connection.ts';
import { encodePlaces, type Place, type Places } from './cursor.ts';
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
  loaded(chain: string, position: number): FeedRecord | undefined;
  /** Reads records from a position on into memory; false when the log no longer keeps it. */
  load(chain: string, position: number): Promise<boolean>;
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
  const keyOf = (chain: string, position: number) => `${chain} ${position}`;

  const places = (): Map<string, Place> =>
    new Map(feeds.map((feed) => [feed.chain, { position: feed.head, index: 0 }]));

  async function read(chain: string, position: number): Promise<boolean> {
    const feed = feeds.find((candidate) => candidate.chain === chain);
    if (!feed) return false;
    try {
      for (const record of await feed.load(position)) loaded.set(keyOf(chain, record.position), record);
    } catch (error) {
      if (error instanceof VerustreamError && error.code === 'log_gap') return false;
      throw error;
    }
    for (const key of loaded.keys()) {
      if (loaded.size <= LOADED_RECORDS) break;
      loaded.delete(key);
    }
    return loaded.has(keyOf(chain, position));
  }

  return {
    chains,
    feeds,
    idsOf,
    logger,
    places,
    isAt: (at) =>
      feeds.every(({ chain, head }) => {
        const place = at.get(chain);
        return place?.position === head && place.index === 0;
      }),
    tips: () => Object.fromEntries(feeds.map((feed) => [feed.chain, feed.tip])),
    loaded: (chain, position) => loaded.get(keyOf(chain, position)),
    load(chain, position) {
      const key = keyOf(chain, position);
      let flight = loading.get(key);
      if (!flight) {
        flight = read(chain, position).finally(() => loading.delete(key));
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
        at.set(feed.chain, placeAfter(event));
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
