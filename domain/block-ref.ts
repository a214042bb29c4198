/** Names one block of a chain: after a rewind, the same height has another hash. */
export interface BlockRef {
  readonly height: number;
  readonly hash: string;
}
