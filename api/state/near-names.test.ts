import { expect, it } from 'vitest';
import type { CurrencyEntry } from './currency-directory.ts';
import { nearNames } from './near-names.ts';

const entries = ['VRSC', 'vETH', 'Bridge.vETH', 'Bridge.vDEX', 'DAI.vETH', 'Kaiju'].map((fullyQualifiedName) => ({
  currencyId: fullyQualifiedName,
  chain: 'vrsc',
  name: fullyQualifiedName.split('.')[0] ?? '',
  fullyQualifiedName,
  type: 'token' as const,
  options: 0,
})) satisfies CurrencyEntry[];

it.each([
  ['VRCS', ['VRSC']],
  ['vrs', ['VRSC']],
  ['kaijuu', ['Kaiju']],
  ['bridge', ['Bridge.vDEX', 'Bridge.vETH']],
  ['Bridge.vETX', ['Bridge.vETH', 'Bridge.vDEX']],
  ['DAY.vETH', ['DAI.vETH', 'vETH']],
  ['nothing like it', []],
  ['x'.repeat(500), []],
])('%s → %j', (text, names) => {
  expect(nearNames(text, entries)).toEqual(names);
});
