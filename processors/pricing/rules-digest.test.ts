import { expect, it } from 'vitest';
import type { PricingRules } from './price-fold.ts';
import { regimePlan } from './regime-plan.ts';
import { rulesDigest } from './rules-digest.ts';

const CHAIN = { name: 'one', nativeCurrencyId: 'i1', minBasketAge: 20 };
const RULES: PricingRules = {
  chains: [CHAIN],
  anchors: new Set(['iA', 'iB']),
  minBasketDepth: { n: 1000n, d: 1n },
  regimes: regimePlan(5),
  priceLimits: { iA: { min: '1' }, iB: { max: '2' } },
};

it('is the same for the same rules, however they are written', () => {
  const written: PricingRules = {
    ...RULES,
    chains: [{ ...CHAIN, rpc: 'http://elsewhere' } as PricingRules['chains'][number]],
    anchors: new Set(['iB', 'iA']),
    regimes: regimePlan(5, [{ regime: 'live', from: null, to: null, chains: null }]),
    priceLimits: { iB: { max: '2' }, iA: { min: '1' } },
  };
  expect(rulesDigest(written)).toBe(rulesDigest(RULES));
});

it.each<[string, Partial<PricingRules>]>([
  ['another chain', { chains: [CHAIN, { ...CHAIN, name: 'two' }] }],
  ['another age of baskets', { chains: [{ ...CHAIN, minBasketAge: 21 }] }],
  ['another anchor', { anchors: new Set(['iA']) }],
  ['another depth', { minBasketDepth: { n: 1001n, d: 1n } }],
  ['another cutover', { regimes: regimePlan(6) }],
  ['another limit', { priceLimits: { iA: { min: '1' }, iB: { max: '3' } } }],
  ['a limit of the other side', { priceLimits: { iA: { max: '1' }, iB: { max: '2' } } }],
  ['one limit less', { priceLimits: { iB: { max: '2' } } }],
])('is another for %s', (_, changed) => {
  expect(rulesDigest({ ...RULES, ...changed })).not.toBe(rulesDigest(RULES));
});
