/**
 * Places to which the fold beyond the line can return. There are few of them however far it reaches: they are denser near its end, so
 * going back costs at most about twice the necessary work.
 */
import { type AheadPlace, copyPlace } from './ahead-place.ts';

export interface Checkpoints {
  add(place: AheadPlace): void;
  /** Keeps only the places for which `holds` returns true. */
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

/** Keeps the first and the last of the checkpoints that are equally far from the end, up to a factor of two. */
function thinned(places: readonly AheadPlace[]): readonly AheadPlace[] {
  const end = places.at(-1)?.tick ?? 0;
  const distance = ({ tick }: AheadPlace) => Math.floor(Math.log2(end - tick + 1));
  return places.filter((place, index) => {
    const [before, after] = [places[index - 1], places[index + 1]];
    const isBetween = before && after && distance(before) === distance(place) && distance(after) === distance(place);
    return !isBetween;
  });
}
