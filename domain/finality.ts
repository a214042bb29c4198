/** How far a chain may be rewound. */

/**
 * Returns the newest height that no rewind removes while the chain's tip is at `height`: that block and all blocks below it stay. The
 * first block always stays, because a chain without it is another chain.
 */
export function finalizedHeight(height: number, finalityDepth: number): number {
  return Math.max(0, height - finalityDepth);
}
