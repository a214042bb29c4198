import { expect, it } from 'vitest';
import { nativeCurrencyId } from './native-currency-id.ts';

it.each([
  ['vrsc', 'VRSC', 'VRSC', 'i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV'],
  ['varrr', 'vARRR', 'VRSC', 'iExBJfZYK7KREDpuhj6PzZBzqMAKaFg7d2'],
  ['vdex', 'vDEX', 'VRSC', 'iHog9UCTrn95qpUBFCZ7kKz7qWdMA8MQ6N'],
  ['chips', 'CHIPS', 'VRSC', 'iJ3WZocnjG9ufv7GKUA4LijQno5gTMb7tP'],
  ['mine', 'VRSCTEST', 'VRSCTEST', 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq'],
  ['pchain', 'pchain', 'VRSCTEST', 'iP1Gzozfm1VJg8NFH7zcBjbYmTW4UafYbV'],
])('%s is %s under %s is %s', (name, rootCurrency, networkRoot, id) => {
  expect(nativeCurrencyId({ name, rootCurrency, networkRoot })).toBe(id);
});
