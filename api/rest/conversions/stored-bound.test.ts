import fc from 'fast-check';
import { expect, it } from 'vitest';
import { storedBound } from './conversion-filters.ts';

/** Extra decimals beyond the 38 of stored values, as many as a request may have; `scaled` counts in the smallest of these units. */
const MORE = 101;
const scaled = (decimal: string): bigint => {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(38 + MORE, '0'));
};
const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`));

it('a stored value is within the stored bound exactly if it is within the written bound', () => {
  const written = fc
    .tuple(digits(45), fc.option(digits(60)))
    .map(([whole, fraction]) => whole + (fraction ? `.${fraction}` : ''));
  const stored = fc.bigInt({ min: 0n, max: 10n ** 76n - 1n });
  fc.assert(
    fc.property(
      written,
      stored,
      fc.constantFrom('>=' as const, '<=' as const),
      fc.boolean(),
      (decimal, any, operator, isNear) => {
        const asked = scaled(decimal);
        const near = asked / 10n ** BigInt(MORE);
        const value = isNear && near < 10n ** 76n ? near : any;
        const within = (bound: bigint) => {
          const at = value * 10n ** BigInt(MORE);
          return operator === '>=' ? at >= bound : at <= bound;
        };
        const bound = storedBound(decimal, operator);
        if (bound !== null) expect(bound).toMatch(/^\d{1,38}\.\d{38}$/);
        expect(bound === null ? operator === '<=' : within(scaled(bound))).toBe(within(asked));
      },
    ),
    { numRuns: 2_000 },
  );
});
