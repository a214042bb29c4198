/** How a record of a topic changes its chain. */
export interface ChainChange {
  /** A correction replaces what was published about a block that is still on the chain. */
  readonly kind: 'block' | 'rewind' | 'correction';
  /** Height of the block; for a rewind, of the newest block that stays. */
  readonly height: number;
}
