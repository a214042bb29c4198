/** What the clients of a run heard, kept small: an event that many heard is held once. */
import { decodePlaces } from '../../api/push/cursor.ts';
import type { ChainEvent } from '../../client/stream/messages.ts';

export interface HeardEvent {
  readonly chain: string;
  /** Of its record, and its number in that. */
  readonly position: number;
  readonly index: number;
  readonly type: string;
  /** `data` as JSON text. */
  readonly told: string;
}

export interface History {
  readonly client: string;
  /** Types that it asked for; an undo comes in any case. */
  readonly types: ReadonlySet<string>;
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

export function createEventBook(): EventBook {
  const entries = new Map<string, HeardEvent>();
  return {
    entry({ chain, cursor, type, data }) {
      // The cursor stands behind the event.
      const { position = -1, index = 0 } = decodePlaces(cursor).get(chain) ?? {};
      const told = JSON.stringify(data);
      const key = `${chain} ${position} ${index}`;
      const known = entries.get(key);
      if (known?.told === told && known.type === type) return known;
      const entry = { chain, position, index: index - 1, type, told };
      if (!known) entries.set(key, entry);
      return entry;
    },
  };
}
