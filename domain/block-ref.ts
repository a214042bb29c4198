/** Identifies one block of a chain. The height alone does not: after a rewind it has another hash. */
export interface BlockRef {
  readonly height: number;
  readonly hash: string;
}
