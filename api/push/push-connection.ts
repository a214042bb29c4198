/** A client's connection, as the hub and the servers see it. */
import type { ChainFeed } from './chain-feed.ts';
import type { FeedPlaces } from './cursor.ts';
import type { LiveEvent } from './transport.ts';

export interface PushConnection {
  /** Takes a message of the client, in UTF-8; the bytes may change afterwards. */
  receive(message: Uint8Array): void;
  /** Call it after a WebSocket ping with this many bytes, which the socket has answered by itself. */
  ping(bytes: number): void;
  /** Call it when the socket has room again. */
  drained(): void;
  /**
   * Sends the events of a record, by number of confirmations, to a live connection. Returns false, and sends nothing, if they are not
   * in memory.
   */
  offer(eventsFor: (confirmations: number) => readonly LiveEvent[] | null): boolean;
  /** Stops being live: it stays at `places` and is served like clients that catch up. */
  fallBehind(places: FeedPlaces): void;
  /** The feed's head moved past records without publishing them: only a client that has resumed from a cursor gets them. */
  skip(feed: ChainFeed, before: FeedPlaces): void;
  readonly isLive: boolean;
  /** Called after every record; serves clients that are not live. */
  wake(): void;
  /** Call it periodically: sends heartbeats and closes slow clients. */
  tick(now: number): void;
  buffered(): number;
  closed(): void;
  /** Sends the reason as an `error`, then closes the connection. */
  closeWithError(why: { readonly code: string; readonly detail: string }, closeCode: number): void;
  end(code: number, reason: string): void;
}
