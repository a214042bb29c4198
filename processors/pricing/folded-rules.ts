/** The pricing rules under which rows are folded, stored with the rows for comparison with later rules. */
import type { PricingRules } from './price-fold.ts';
import { REGIME_VERSIONS } from './stamp.ts';

export interface ChainRules {
  readonly name: string;
  readonly currency: string;
  readonly minBasketAge: number;
  readonly stableAnchors: readonly string[];
  /** Set for a chain that is no longer configured: the chains with which it was last folded. */
  readonly foldedWith?: readonly string[] | undefined;
}

/** Everything that prices and stamps follow from, except the chains' blocks and the ranges of regimes. */
export interface FoldedRules {
  readonly version: string;
  readonly minBasketDepthUsd: string;
  readonly cutover: string;
  readonly priceLimits: string;
  /** In configured order, which decides between blocks of equal clocks; the first is the default chain. */
  readonly chains: readonly ChainRules[];
}

interface AnchoredChain {
  readonly name: string;
  readonly stableAnchors: readonly string[];
}

/** Equal rules become equal texts, however the configuration writes them. */
export function foldedRules(rules: PricingRules, anchored: readonly AnchoredChain[]): FoldedRules {
  const { chains, minBasketDepth, regimes, priceLimits } = rules;
  const limits = Object.keys(priceLimits)
    .toSorted()
    .map((id) => [id, priceLimits[id]?.min ?? null, priceLimits[id]?.max ?? null]);
  const anchorsOf = (name: string) => anchored.find((chain) => chain.name === name)?.stableAnchors ?? [];
  return {
    version: JSON.stringify(REGIME_VERSIONS),
    minBasketDepthUsd: `${minBasketDepth.n}/${minBasketDepth.d}`,
    cutover: String(regimes.cutover),
    priceLimits: JSON.stringify(limits),
    chains: chains.map(({ name, nativeCurrencyId, minBasketAge }) => {
      return { name, currency: nativeCurrencyId, minBasketAge, stableAnchors: [...new Set(anchorsOf(name))].sort() };
    }),
  };
}

const OF_ALL = ['version', 'minBasketDepthUsd', 'cutover', 'priceLimits'] as const;
const OF_A_CHAIN = ['currency', 'minBasketAge', 'stableAnchors'] as const;

/**
 * Returns the names of the rules that differ. A chain that only one of the two has changes no rule, unless it is the default chain: for
 * an added chain the fold goes back to that chain's first block.
 */
export function changedRules(before: FoldedRules, now: FoldedRules): string[] {
  const isOrderChanged = defaultChain(before) !== defaultChain(now) || hasOtherOrder(before.chains, now.chains);
  const ofChains = now.chains.flatMap((chain) => {
    const former = before.chains.find(({ name }) => name === chain.name);
    const changed = OF_A_CHAIN.filter((rule) => former && String(former[rule]) !== String(chain[rule]));
    return changed.map((rule) => `${rule} of ${chain.name}`);
  });
  return [
    ...OF_ALL.filter((rule) => before[rule] !== now[rule]),
    ...(isOrderChanged ? ['order of chains'] : []),
    ...ofChains,
  ];
}

const defaultChain = ({ chains }: FoldedRules) => chains.find(({ foldedWith }) => foldedWith === undefined)?.name;

/** Whether the order of two chains that were folded together has changed. */
function hasOtherOrder(before: readonly ChainRules[], now: readonly ChainRules[]): boolean {
  const places = new Map(now.map(({ name }, place) => [name, place]));
  return before.some((one, index) =>
    before.slice(index + 1).some((other) => {
      const [first, second] = [places.get(one.name), places.get(other.name)];
      return first !== undefined && second !== undefined && first > second && wereTogether(one, other);
    }),
  );
}

const wereTogether = (one: ChainRules, other: ChainRules): boolean =>
  (one.foldedWith?.includes(other.name) ?? true) && (other.foldedWith?.includes(one.name) ?? true);

/** Returns the rules of today, and at their old places the chains that are not configured today, because they may come back. */
export function mergedRules(before: FoldedRules, now: FoldedRules): FoldedRules {
  const chains = [...now.chains];
  const together = before.chains.filter(({ foldedWith }) => foldedWith === undefined).map(({ name }) => name);
  for (const [index, chain] of before.chains.entries()) {
    if (now.chains.some(({ name }) => name === chain.name)) continue;
    const previous = before.chains[index - 1]?.name;
    chains.splice(chains.findIndex(({ name }) => name === previous) + 1, 0, { foldedWith: together, ...chain });
  }
  return { ...now, chains };
}
