import { expect, it } from 'vitest';
import { parseReserves } from './reserves.ts';

it('reads amounts beyond the range of doubles exactly, in the order of the text', () => {
  const stored = [
    { currencyId: 'iB', weight: '50000000', reserves: '1000000000000000001', priceInReserve: '3' },
    { currencyId: 'iA', weight: '50000000', reserves: '0', priceInReserve: '0' },
  ];
  expect(parseReserves(JSON.stringify(stored))).toEqual([
    { currencyId: 'iB', weight: 50_000_000n, reserves: 10n ** 18n + 1n, priceInReserve: 3n },
    { currencyId: 'iA', weight: 50_000_000n, reserves: 0n, priceInReserve: 0n },
  ]);
});

it('throws for a value that is not an amount', () => {
  expect(() => parseReserves('[{"currencyId":"iA","weight":"half","reserves":"1","priceInReserve":"1"}]')).toThrow(
    SyntaxError,
  );
});
