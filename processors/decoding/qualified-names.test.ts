import { expect, test } from 'vitest';
import type { CurrencyFact } from '../../schemas/facts.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { qualifiedCurrencyName, qualifiedIdentityName } from './qualified-names.ts';

const VRSC = 'i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV';
const NO_PARENT = 'i3UXS5QPRQGNRDDqVnyWTnmFCTHDbzmsYk';
const state = createMemoryState({ name: 'varrr', nativeCurrencyId: 'iP', networkRoot: 'VRSC' });
state.put({ type: 'currency', currencyId: 'iP', fullyQualifiedName: 'vARRR' } as CurrencyFact);

test.each([
  ['alice', VRSC, 'alice.VRSC'],
  ['Bridge', 'iP', 'Bridge.vARRR.VRSC'],
  ['alice', 'iUnknown', 'alice.iUnknown.VRSC'],
  ['VRSC', NO_PARENT, 'VRSC'],
  ['VRSC', '', 'VRSC'],
])('identity %s under %s: %s', (name, parent, full) => {
  expect(qualifiedIdentityName(name, parent, state)).toBe(full);
});

test.each([
  ['vARRR', VRSC, 'vARRR'],
  ['Bridge', 'iP', 'Bridge.vARRR'],
  ['VRSC', null, 'VRSC'],
  ['VRSC', NO_PARENT, 'VRSC'],
])('currency %s under %s: %s', (name, parent, full) => {
  expect(qualifiedCurrencyName({ name, parent }, state, new Map())).toBe(full);
});
