/** How far a chain may be rewound. */

/**
 * Newest height that no rewind removes while the chain stands at `height`: the block there, and all below it, stay. The first block
 * always does, since a chain without it is another chain.
 */
export function finalizedHeight(height: number, finalityDepth: number): number {
  return Math.max(0, height - finalityDepth);
}
