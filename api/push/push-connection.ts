/** What the hub and the servers know of a client's connection. */
import type { ChainFeed } from './chain-feed.ts';
import type { FeedPlaces } from './cursor.ts';
import type { LiveEvent } from './transport.ts';

export interface PushConnection {
  /** A message of the client, UTF-8; the bytes may change afterwards. */
  receive(message: Uint8Array): void;
  /** A ping of the protocol, with so many bytes, which the socket has answered by itself. */
  ping(bytes: number): void;
  /** The socket has room again. */
  drained(): void;
  /**
   * The events of a record while the connection is live, by confirmations; false, and nothing is sent, where they are not at hand.
   */
  offer(eventsFor: (confirmations: number) => readonly LiveEvent[] | null): boolean;
  /** Stops being live: it stays at `places` and is served like clients that catch up. */
  fallBehind(places: FeedPlaces): void;
  /** The head of the feed moved on without showing records: only a client that resumes from a cursor hears of them. */
  skip(feed: ChainFeed, before: FeedPlaces): void;
  readonly isLive: boolean;
  /** Called after every record; serves clients that are not live. */
  wake(): void;
  /** Now and then: heartbeat, end of a slow client. */
  tick(now: number): void;
  buffered(): number;
  closed(): void;
  /** Says why in an `error`, then ends it. */
  closeWithError(why: { readonly code: string; readonly detail: string }, closeCode: number): void;
  end(code: number, reason: string): void;
}
