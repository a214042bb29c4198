import { expect, it } from 'vitest';
import { nativeCurrencyId } from './native-currency-id.ts';

it.each([
  ['vrsc', 'VRSC', 'i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV'],
  ['varrr', 'vARRR', 'iExBJfZYK7KREDpuhj6PzZBzqMAKaFg7d2'],
  ['vdex', 'vDEX', 'iHog9UCTrn95qpUBFCZ7kKz7qWdMA8MQ6N'],
  ['chips', 'CHIPS', 'iJ3WZocnjG9ufv7GKUA4LijQno5gTMb7tP'],
  ['mine', 'VRSCTEST', 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq'],
])('%s is %s is %s', (name, rootCurrency, id) => {
  expect(nativeCurrencyId({ name, rootCurrency })).toBe(id);
});
