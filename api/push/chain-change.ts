/** What a record of a topic does to its chain. */
export interface ChainChange {
  /** correction: replaces what was said of a block that stands. */
  readonly kind: 'block' | 'rewind' | 'correction';
  /** Height of the block; for a rewind, of the newest block that stays. */
  readonly height: number;
}
