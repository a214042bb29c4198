/** What the clients of a run heard, kept small: an event that many heard is held once. */
import { decodePlaces, type FeedKey, feedKey } from '../../api/push/cursor.ts';
import type { ChainEvent } from '../../client/stream/messages.ts';

export interface HeardEvent {
  readonly feed: FeedKey;
  /** Of its record, and its number in that. */
  readonly position: number;
  readonly index: number;
  /** As in the message; of what is made of prices, a name of its own. */
  readonly type: string;
  /** `data` as JSON text. */
  readonly content: string;
}

export interface ClientHistory {
  readonly client: string;
  /** Types that it asked for. */
  readonly types: ReadonlySet<string>;
  readonly confirmations: number;
  /** Cursor that it began with. */
  readonly from: string;
  readonly events: HeardEvent[];
  /** What must not occur at all. */
  readonly faults: string[];
}

export interface EventBook {
  /** The event of a message; the same object for the same event told alike. */
  entry(message: Pick<ChainEvent, 'chain' | 'cursor' | 'type' | 'data'>): HeardEvent;
}

export const VALUED = 'valued conversion';
export const UNDO_OF_PRICES = 'undo of prices';

const OF_STAMPS = new Set(['price', 'price_correction', 'conversion_correction']);

/** Which feed of its chain an event comes from, and its type there. */
export function placeOf(chain: string, type: string, data: object): Pick<HeardEvent, 'feed' | 'type'> {
  if (type === 'undo' && 'of' in data) return { feed: feedKey('stamps', chain), type: UNDO_OF_PRICES };
  if (type === 'conversion' && 'usdValue' in data) return { feed: feedKey('stamps', chain), type: VALUED };
  return { feed: feedKey(OF_STAMPS.has(type) ? 'stamps' : 'facts', chain), type };
}

export function createEventBook(): EventBook {
  const entries = new Map<string, HeardEvent>();
  return {
    entry({ chain, cursor, data, ...message }) {
      const { feed, type } = placeOf(chain, message.type, data);
      // The cursor stands behind the event.
      const { position = -1, index = 0 } = decodePlaces(cursor).get(feed) ?? {};
      const content = JSON.stringify(data);
      const key = `${feed} ${position} ${index}`;
      const known = entries.get(key);
      if (known?.content === content && known.type === type) return known;
      const entry = { feed, position, index: index - 1, type, content };
      if (!known) entries.set(key, entry);
      return entry;
    },
  };
}
