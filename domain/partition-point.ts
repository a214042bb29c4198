/** Number of elements for which `isBefore` holds, in a list that has them all at its start: a binary search. */
export function partitionPoint<T>(ordered: readonly T[], isBefore: (element: T) => boolean): number {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(ordered[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
