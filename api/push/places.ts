/** Order of places in the stream. */
import type { FeedKey, FeedPlace, FeedPlaces } from './cursor.ts';
import type { PushEvent } from './push-event.ts';

export function comparePlaces(a: FeedPlace, b: FeedPlace): number {
  return a.position - b.position || a.index - b.index;
}

/** Whether the place is at `other` or later. False for a subscription that waits for its snapshot, whose place is infinite. */
export function isAtOrAfter(place: FeedPlace | undefined, other: FeedPlace): place is FeedPlace {
  return place !== undefined && Number.isFinite(place.position) && comparePlaces(place, other) >= 0;
}

/** Whether a reader at `places` has passed the event. */
export function isBefore(event: PushEvent, places: FeedPlaces): boolean {
  const place = places.get(event.feed);
  return place !== undefined && comparePlaces(event.place, place) < 0;
}

/** Whether `places` are before `others` in any feed. */
export function isBeforePlaces(places: FeedPlaces, others: FeedPlaces): boolean {
  return [...places].some(([feed, place]) => {
    const other = others.get(feed);
    return other !== undefined && comparePlaces(place, other) < 0;
  });
}

/** In each feed the later of the two places. */
export function laterOf(places: FeedPlaces, others: FeedPlaces): FeedPlaces {
  return merged(places, others, (place, other) => comparePlaces(place, other) < 0);
}

/** In each feed the earlier of the two places. */
export function earlierOf(places: FeedPlaces, others: FeedPlaces): FeedPlaces {
  return merged(places, others, (place, other) => comparePlaces(place, other) > 0);
}

function merged(
  places: FeedPlaces,
  others: FeedPlaces,
  isBetter: (place: FeedPlace, other: FeedPlace) => boolean,
): FeedPlaces {
  const result = new Map(places);
  for (const [feed, other] of others) {
    const place = places.get(feed);
    if (place === undefined || isBetter(place, other)) result.set(feed, other);
  }
  return result;
}

/** Places after every event: a subscription that starts there wants no events yet. */
export function beyondAll(places: FeedPlaces): FeedPlaces {
  return new Map([...places.keys()].map((feed) => [feed, { position: Number.POSITIVE_INFINITY, index: 0 }]));
}

export function placeAfter({ place }: PushEvent): FeedPlace {
  return { position: place.position, index: place.index + 1 };
}

/** Whether a reader at `places` has a record to read before `at`; false if `at` is null. */
export function isShortOf(
  feeds: readonly { readonly key: FeedKey; readonly head: number }[],
  places: FeedPlaces,
  at: FeedPlaces | null,
): boolean {
  if (at === null) return false;
  return feeds.some(
    ({ key, head }) => (places.get(key)?.position ?? head) < Math.min(head, at.get(key)?.position ?? 0),
  );
}
