/**
 * Places that the fold beyond the line can go back to. Few however far it reaches: they lie the closer together the nearer they
 * are to its end, so going back costs at most about twice what it must.
 */
import { type AheadPlace, copyPlace } from './ahead-place.ts';

export interface Checkpoints {
  add(place: AheadPlace): void;
  /** Only those stay for which this holds. */
  keep(holds: (place: AheadPlace) => boolean): void;
  newest(): AheadPlace | null;
  count(): number;
}

export function createCheckpoints(): Checkpoints {
  /** Oldest first. */
  let places: readonly AheadPlace[] = [];
  return {
    add(place) {
      places = thinned([...places, copyPlace(place)]);
    },
    keep(holds) {
      places = places.filter(holds);
    },
    newest: () => places.at(-1) ?? null,
    count: () => places.length,
  };
}

/** Among checkpoints equally far from the end, up to a factor of two, the first and the last stay. */
function thinned(places: readonly AheadPlace[]): readonly AheadPlace[] {
  const end = places.at(-1)?.tick ?? 0;
  const distance = ({ tick }: AheadPlace) => Math.floor(Math.log2(end - tick + 1));
  return places.filter((place, index) => {
    const [before, after] = [places[index - 1], places[index + 1]];
    const isBetween = before && after && distance(before) === distance(place) && distance(after) === distance(place);
    return !isBetween;
  });
}
