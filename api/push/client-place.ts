/** Where one client stands in the stream: with the hub while it is live, at a place of its own otherwise. */
import type { FeedKey, FeedPlace, FeedPlaces } from './cursor.ts';
import type { Hub } from './hub.ts';

export interface ClientPlace {
  /** The place of its own; null while live. */
  readonly own: ReadonlyMap<FeedKey, FeedPlace> | null;
  /** A copy. */
  here(): Map<FeedKey, FeedPlace>;
  /** Is no longer live: stays at these places, unless it had a place of its own. */
  stay(at?: FeedPlaces): void;
  /** Goes to these places in all feeds. */
  goTo(places: FeedPlaces): void;
  /** Goes to this place in one feed; a live client stays live. */
  moveTo(feed: FeedKey, place: FeedPlace): void;
  /** Is live again, if the hub stands at the same place. */
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
