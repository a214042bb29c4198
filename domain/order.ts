/** Compares integers for a sort, largest first. */
export const descending = (a: bigint, b: bigint): number => (a < b ? 1 : a > b ? -1 : 0);
