import { expect, it } from 'vitest';
import { changedRules, foldedRules, mergedRules } from './folded-rules.ts';
import type { PricingRules } from './price-fold.ts';
import { regimePlan } from './regime-plan.ts';

const chain = (name: string, changes = {}) => ({
  name,
  nativeCurrencyId: `i${name}`,
  minBasketAge: 20,
  stableAnchors: [`${name}A`, `${name}B`],
  ...changes,
});
type Chain = ReturnType<typeof chain>;

const [A, B, C] = [chain('a'), chain('b'), chain('c')];

const RULES = {
  minBasketDepth: { n: 1000n, d: 1n },
  regimes: regimePlan(5),
  priceLimits: { iA: { min: '1' }, iB: { max: '2' } },
};
const of = (chains: readonly Chain[], changes: Partial<PricingRules> = {}) =>
  foldedRules(
    { ...RULES, anchors: new Set(chains.flatMap(({ stableAnchors }) => stableAnchors)), ...changes, chains },
    chains,
  );

it('are the same however the configuration writes them', () => {
  const written = of([{ ...A, stableAnchors: ['aB', 'aA', 'aB'], rpc: 'http://elsewhere' } as Chain], {
    regimes: regimePlan(5, [{ regime: 'live', from: null, to: null, chains: null }]),
    priceLimits: { iB: { max: '2' }, iA: { min: '1' } },
  });
  expect(written).toEqual(of([A]));
});

it.each<[string, readonly Chain[], Partial<PricingRules>, string[]]>([
  ['nothing', [A, B], {}, []],
  ['an age of baskets', [A, chain('b', { minBasketAge: 21 })], {}, ['minBasketAge of b']],
  ['an anchor', [A, chain('b', { stableAnchors: ['bA'] })], {}, ['stableAnchors of b']],
  ['a currency', [chain('a', { nativeCurrencyId: 'i9' }), B], {}, ['currency of a']],
  ['the depth', [A, B], { minBasketDepth: { n: 1001n, d: 1n } }, ['minBasketDepthUsd']],
  ['cutover and limits', [A, B], { regimes: regimePlan(6), priceLimits: {} }, ['cutover', 'priceLimits']],
  ['a limit of the other side', [A, B], { priceLimits: { iA: { max: '1' }, iB: { max: '2' } } }, ['priceLimits']],
  ['the order of chains', [B, A], {}, ['order of chains']],
  ['one more chain', [A, C, B], {}, []],
  ['one more chain in the first place', [C, A, B], {}, ['order of chains']],
  ['one more chain, and an anchor', [A, C, chain('b', { stableAnchors: [] })], {}, ['stableAnchors of b']],
  ['one chain less', [A], {}, []],
  ['the default chain removed', [B], {}, ['order of chains']],
])('names the changed rules: %s', (_, chains, changes, names) => {
  expect(changedRules(of([A, B]), of(chains, changes))).toEqual(names);
});

it.each<[string, readonly Chain[], readonly Chain[], string[]]>([
  ['as it was', [A, C], [A, B, C], []],
  ['at another place', [A, C], [A, C, B], ['order of chains']],
  ['with another age', [A, C], [A, chain('b', { minBasketAge: 9 }), C], ['minBasketAge of b']],
  ['with other chains that left with it', [A], [A, B, C], []],
  ['with the default chain', [C], [A, B, C], ['order of chains']],
  ['with one more chain', [A, C, chain('d')], [A, B, C, chain('d')], []],
  ['behind a chain that was added next to it in the meantime', [A, chain('d'), C], [A, chain('d'), B, C], []],
  ['before a chain that was added next to it in the meantime', [A, chain('d'), C], [A, B, chain('d'), C], []],
  ['in the first place, where it was not', [A, C], [B, A, C], ['order of chains']],
])('a chain that was left out for a while comes back %s', (_, meanwhile, now, names) => {
  expect(changedRules(mergedRules(of([A, B, C]), of(meanwhile)), of(now))).toEqual(names);
});

it('the order of a chain that comes back is not compared with chains that it was never folded with', () => {
  const kept = mergedRules(mergedRules(of([A, B]), of([A, C])), of([A, C]));
  expect(changedRules(kept, of([A, C, B]))).toEqual([]);
  expect(changedRules(kept, of([A, B, C]))).toEqual([]);
  expect(changedRules(kept, of([B, A, C]))).toEqual(['order of chains']);
  const again = mergedRules(kept, of([A, C, B]));
  expect(again.chains.map(({ name, foldedWith }) => [name, foldedWith])).toEqual(
    ['a', 'c', 'b'].map((name) => [name, undefined]),
  );
  expect(changedRules(again, of([A, B, C]))).toEqual(['order of chains']);
});
