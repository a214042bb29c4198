import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePrice } from '../../domain/decimal.ts';
import { isOffPeg, judgePrice } from './price-guard.ts';

const price = (text: string) => ({ usd: parsePrice(text) });
const NO_ANCHOR_OFF = undefined;

describe('judgePrice', () => {
  it.each([
    ['100', 'healthy'],
    ['102', 'healthy'],
    ['98', 'healthy'],
    ['102.000001', 'warning'],
    ['105', 'warning'],
    ['95', 'warning'],
    ['105.000001', 'rejected'],
    ['1', 'rejected'],
  ])('%s against an external price of 100 is %s', (usd, status) => {
    const input = { derived: price(usd), replaced: NO_ANCHOR_OFF, external: parsePrice('100'), good: null };
    expect(judgePrice(input).status).toBe(status);
  });

  it('reports the deviation', () => {
    const input = { derived: price('97'), replaced: NO_ANCHOR_OFF, external: parsePrice('100'), good: null };
    expect(judgePrice(input).deviation).toBe(3_0000000000n);
  });

  it('caps a huge deviation at the largest value that the stores can contain', () => {
    const input = { derived: price('1000000'), replaced: NO_ANCHOR_OFF, external: parsePrice('0.000000000000000001') };
    expect(judgePrice({ ...input, good: null })).toMatchObject({ deviation: 10n ** 30n - 1n, status: 'rejected' });
  });

  it('keeps the last good price while one is rejected', () => {
    const good = price('99');
    const derived = price('50');
    const external = parsePrice('100');
    expect(judgePrice({ derived, replaced: NO_ANCHOR_OFF, external, good }).published).toBe(good);
    expect(judgePrice({ derived, replaced: NO_ANCHOR_OFF, external, good: null }).published).toBeNull();
  });

  it('publishes and judges the price by the remaining anchors', () => {
    const derived = price('50');
    const replaced = price('99');
    expect(judgePrice({ derived, replaced, external: parsePrice('100'), good: null })).toEqual({
      deviation: 1_0000000000n,
      status: 'healthy',
      published: replaced,
    });
  });

  it('keeps the last good price when the remaining anchors give none', () => {
    const good = price('1');
    expect(judgePrice({ derived: price('1.1'), replaced: null, external: null, good })).toEqual({
      deviation: null,
      status: 'rejected',
      published: good,
    });
  });

  it('accepts any price when there is no external price', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 40n }), (usd) => {
        const verdict = judgePrice({ derived: { usd }, replaced: NO_ANCHOR_OFF, external: null, good: null });
        expect(verdict).toEqual({ deviation: null, status: 'healthy', published: null });
      }),
    );
  });
});

it.each([
  ['1', false],
  ['1.02', false],
  ['0.98', false],
  ['1.0201', true],
  ['0.5', true],
])('an anchor at %s is off its peg: %s', (external, off) => {
  expect(isOffPeg(parsePrice(external))).toBe(off);
});
