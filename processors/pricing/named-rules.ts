/** The pricing rules by the names that an operator knows, as text: to be kept with what was folded under them, and compared later. */
import type { PricingRules } from './price-fold.ts';
import { REGIME_VERSIONS } from './stamp.ts';

/** By name; equal texts are equal rules. */
export type NamedRules = Readonly<Record<string, string>>;

const CHAINS = 'order of chains';
const ANCHORS = 'stableAnchors';

/** Whatever prices and stamps follow from, apart from the chains' blocks and the ranges of regimes. */
export function namedRules({ chains, anchors, minBasketDepth, regimes, priceLimits }: PricingRules): NamedRules {
  const ofChains = chains.flatMap(({ name, nativeCurrencyId, minBasketAge }) => [
    [`currency of ${name}`, nativeCurrencyId],
    [`minBasketAge of ${name}`, String(minBasketAge)],
  ]);
  const limits = Object.keys(priceLimits)
    .toSorted()
    .map((id) => [id, priceLimits[id]?.min ?? null, priceLimits[id]?.max ?? null]);
  return {
    version: JSON.stringify(REGIME_VERSIONS),
    [CHAINS]: chains.map(({ name }) => name).join(),
    ...Object.fromEntries(ofChains),
    [ANCHORS]: [...anchors].toSorted().join(),
    minBasketDepthUsd: `${minBasketDepth.n}/${minBasketDepth.d}`,
    cutover: String(regimes.cutover),
    priceLimits: JSON.stringify(limits),
  };
}

/**
 * Names of the rules that differ. A chain that was added or taken out changes none: the fold goes back to the first block of an added
 * one, and what a chain without blocks says decides nothing.
 */
export function changedRules(before: NamedRules, now: NamedRules): string[] {
  const chainsOf = (rules: NamedRules) => (rules[CHAINS] ?? '').split(',');
  const common = (rules: NamedRules, other: NamedRules) =>
    chainsOf(rules).filter((name) => chainsOf(other).includes(name));
  const hasSameChains = common(before, now).length === Math.max(chainsOf(before).length, chainsOf(now).length);
  return Object.keys(before).filter((name) => {
    if (name === CHAINS) return common(before, now).join() !== common(now, before).join();
    if (name === ANCHORS && !hasSameChains) return false;
    return now[name] !== undefined && now[name] !== before[name];
  });
}
