/** What tells the rules of one run of the fold from those of another. */
import { hash } from 'node:crypto';
import type { PricingRules } from './price-fold.ts';
import { REGIME_VERSIONS } from './stamp.ts';

/** Equal texts are equal rules: whatever prices and stamps follow from, apart from the chains' blocks and the ranges of regimes. */
export function rulesDigest({ chains, anchors, minBasketDepth, regimes, priceLimits }: PricingRules): string {
  const rules = {
    versions: REGIME_VERSIONS,
    chains: chains.map(({ name, nativeCurrencyId, minBasketAge }) => [name, nativeCurrencyId, minBasketAge]),
    anchors: [...anchors].toSorted(),
    minBasketDepth: [minBasketDepth.n, minBasketDepth.d].map(String),
    cutover: regimes.cutover,
    priceLimits: Object.keys(priceLimits)
      .toSorted()
      .map((id) => [id, priceLimits[id]?.min ?? null, priceLimits[id]?.max ?? null]),
  };
  return hash('sha256', JSON.stringify(rules)).slice(0, 16);
}
