import { describe, expect, it } from 'vitest';
import { type ConfidenceInput, confidence, priceStatus } from './confidence.ts';
import { parsePrice } from './decimal.ts';

const one = parsePrice('1');
const given = (change: Partial<ConfidenceInput>): ConfidenceInput => ({
  tier: 3,
  usd: one,
  totalDepth: 0n,
  entryPrices: [one],
  age: 50,
  guard: null,
  ...change,
});

describe('confidence', () => {
  it.each<[string, Partial<ConfidenceInput>, number]>([
    ['nothing speaks for it', {}, 0],
    ['depth of 1,000 is not above 1,000', { totalDepth: parsePrice('1000') }, 0],
    ['depth above 1,000', { totalDepth: parsePrice('1000.01') }, 10],
    ['depth above 10,000', { totalDepth: parsePrice('10000.01') }, 20],
    ['depth above 50,000', { totalDepth: parsePrice('50000.01') }, 30],
    ['an anchor', { tier: 0 }, 20],
    ['direct', { tier: 1 }, 20],
    ['one hop', { tier: 2 }, 10],
    ['entries less than 1 % apart', { entryPrices: [one, parsePrice('1.0099')] }, 20],
    ['entries 1 % apart', { entryPrices: [parsePrice('1.01'), one] }, 10],
    ['entries 3 % apart', { entryPrices: [one, parsePrice('1.03')] }, 0],
    ['10 blocks old', { age: 10 }, 10],
    ['11 blocks old', { age: 11 }, 0],
    ['100 blocks old', { tier: 1, totalDepth: parsePrice('60000'), age: 100 }, 50],
    ['101 blocks old', { tier: 1, totalDepth: parsePrice('60000'), age: 101 }, 20],
    ['never below 0', { age: 101 }, 0],
    ['a healthy guard', { guard: 'healthy' }, 10],
    ['a guard that warns', { guard: 'warning' }, 5],
    ['a guard that rejects', { guard: 'rejected' }, 0],
    ['all of it', { tier: 1, totalDepth: parsePrice('60000'), entryPrices: [one, one], age: 0, guard: 'healthy' }, 90],
  ])('%s', (_, change, points) => {
    expect(confidence(given(change))).toBe(points);
  });
});

describe('status', () => {
  it.each([
    [0, null, 'healthy'],
    [100, 'warning', 'warning'],
    [101, 'warning', 'stale'],
    [101, null, 'stale'],
    [101, 'rejected', 'rejected'],
  ] as const)('%i blocks old, guard %s: %s', (age, guard, status) => {
    expect(priceStatus(age, guard)).toBe(status);
  });
});
