/** Which chain the others wait for: prices of a block are complete once every chain's clock has passed it. */

/** Returns the chain with the earliest clock, the first one on a tie; null without chains. */
export function slowestChain<Chain>(chains: readonly Chain[], clockOf: (chain: Chain) => number): Chain | null {
  let slowest: Chain | null = null;
  for (const chain of chains) if (slowest === null || clockOf(chain) < clockOf(slowest)) slowest = chain;
  return slowest;
}
