/** Order of places in the stream. */
import type { Place, Places } from './cursor.ts';
import type { PushEvent } from './push-event.ts';

export function comparePlaces(a: Place, b: Place): number {
  return a.position - b.position || a.index - b.index;
}

/** Whether a reader at `places` has passed the event. */
export function isBefore(event: PushEvent, places: Places): boolean {
  const place = places.get(event.feed);
  return place !== undefined && comparePlaces(event.place, place) < 0;
}

export function placeAfter({ place }: PushEvent): Place {
  return { position: place.position, index: place.index + 1 };
}
