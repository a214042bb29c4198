/** Orders of integers for a sort. */

/** Smallest first. */
export const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
/** Largest first. */
export const descending = (a: bigint, b: bigint): number => ascending(b, a);
