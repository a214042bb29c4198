/** Place of one client in the stream: the hub's while the client is live, otherwise its own. */
import type { FeedKey, FeedPlace, FeedPlaces } from './cursor.ts';
import type { Hub } from './hub.ts';

export interface ClientPlace {
  /** The client's own places; null while it is live. */
  readonly own: ReadonlyMap<FeedKey, FeedPlace> | null;
  /** Returns a copy of the current places. */
  here(): Map<FeedKey, FeedPlace>;
  /** Stops being live and stays at these places; a client that already has its own places keeps them. */
  stay(at?: FeedPlaces): void;
  /** Moves to these places in all feeds. */
  goTo(places: FeedPlaces): void;
  /** Moves to this place in one feed; a live client stays live. */
  moveTo(feed: FeedKey, place: FeedPlace): void;
  /** Becomes live again if the hub is at the same places. */
  joinHub(): void;
}

export function createClientPlace(hub: Pick<Hub, 'places' | 'isAt'>): ClientPlace {
  let own: Map<FeedKey, FeedPlace> | null = new Map(hub.places());
  return {
    get own() {
      return own;
    },
    here: () => new Map(own ?? hub.places()),
    stay(at) {
      own ??= new Map(at ?? hub.places());
    },
    goTo(places) {
      own = new Map(places);
    },
    moveTo(feed, place) {
      own?.set(feed, place);
    },
    joinHub() {
      if (own && hub.isAt(own)) own = null;
    },
  };
}
