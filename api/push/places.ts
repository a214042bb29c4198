/** Order of places in the stream. */
import type { FeedPlace, FeedPlaces } from './cursor.ts';
import type { PushEvent } from './push-event.ts';

export function comparePlaces(a: FeedPlace, b: FeedPlace): number {
  return a.position - b.position || a.index - b.index;
}

/** Whether a reader at `places` has passed the event. */
export function isBefore(event: PushEvent, places: FeedPlaces): boolean {
  const place = places.get(event.feed);
  return place !== undefined && comparePlaces(event.place, place) < 0;
}

export function earlierPlace(a: FeedPlace, b: FeedPlace | undefined): FeedPlace {
  return b && comparePlaces(b, a) < 0 ? b : a;
}

export function placeAfter({ place }: PushEvent): FeedPlace {
  return { position: place.position, index: place.index + 1 };
}
