import { expect, it } from 'vitest';
import { changedRules, namedRules } from './named-rules.ts';
import type { PricingRules } from './price-fold.ts';
import { regimePlan } from './regime-plan.ts';

const CHAIN = { name: 'one', nativeCurrencyId: 'i1', minBasketAge: 20 };
const RULES: PricingRules = {
  chains: [CHAIN],
  anchors: new Set(['iA', 'iB']),
  minBasketDepth: { n: 1000n, d: 1n },
  regimes: regimePlan(5),
  priceLimits: { iA: { min: '1' }, iB: { max: '2' } },
};

const TWO = { name: 'two', nativeCurrencyId: 'i2', minBasketAge: 20 };
const THREE = { name: 'three', nativeCurrencyId: 'i3', minBasketAge: 20 };

it('are the same for the same rules, however they are written', () => {
  const written: PricingRules = {
    ...RULES,
    chains: [{ ...CHAIN, rpc: 'http://elsewhere' } as PricingRules['chains'][number]],
    anchors: new Set(['iB', 'iA']),
    regimes: regimePlan(5, [{ regime: 'live', from: null, to: null, chains: null }]),
    priceLimits: { iB: { max: '2' }, iA: { min: '1' } },
  };
  expect(namedRules(written)).toEqual(namedRules(RULES));
});

const changed = (before: Partial<PricingRules>, now: Partial<PricingRules>) =>
  changedRules(namedRules({ ...RULES, ...before }), namedRules({ ...RULES, ...now }));

it.each<[string, Partial<PricingRules>, string[]]>([
  ['nothing', {}, []],
  ['an age of baskets', { chains: [{ ...CHAIN, minBasketAge: 21 }, TWO] }, ['minBasketAge of one']],
  ['an anchor', { anchors: new Set(['iA']) }, ['stableAnchors']],
  ['the depth', { minBasketDepth: { n: 1001n, d: 1n } }, ['minBasketDepthUsd']],
  ['cutover and limits', { regimes: regimePlan(6), priceLimits: {} }, ['cutover', 'priceLimits']],
  ['a limit of the other side', { priceLimits: { iA: { max: '1' }, iB: { max: '2' } } }, ['priceLimits']],
  ['another chain of the same name', { chains: [{ ...CHAIN, nativeCurrencyId: 'i9' }, TWO] }, ['currency of one']],
  ['the order of chains', { chains: [TWO, CHAIN] }, ['order of chains']],
  ['a chain more, and its anchor', { chains: [CHAIN, THREE, TWO], anchors: new Set(['iA', 'iB', 'iC']) }, []],
  ['a chain less', { chains: [TWO] }, []],
  ['a chain more and another order', { chains: [TWO, CHAIN, THREE] }, ['order of chains']],
])('names what was changed: %s', (_, now, names) => {
  const all = { chains: [CHAIN, TWO] };
  expect(changed(all, { ...all, ...now })).toEqual(names);
});
