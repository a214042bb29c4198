/** Events that the clients of a run received, kept small: an event that many received is stored once. */
import { decodePlaces, type FeedKey, feedKey } from '../../api/push/cursor.ts';
import type { ChainEvent } from '../../client/stream/messages.ts';

export interface HeardEvent {
  readonly feed: FeedKey;
  /** Position of its record, and its index in the record. */
  readonly position: number;
  readonly index: number;
  /** Type in the message; events that follow from prices have types of their own. */
  readonly type: string;
  /** `data` as JSON text. */
  readonly content: string;
}

export interface ClientHistory {
  readonly client: string;
  /** Types that it asked for. */
  readonly types: ReadonlySet<string>;
  readonly confirmations: number;
  /** Cursor that it started with. */
  readonly from: string;
  readonly events: HeardEvent[];
  /** Things that must never happen. */
  readonly faults: string[];
}

export interface EventBook {
  /** The event of a message; returns the same object for equal messages. */
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
      // The cursor is the place after the event.
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
