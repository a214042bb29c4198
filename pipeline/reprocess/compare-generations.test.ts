/** Checks the comparison of two generations with plain sums over the same made-up conversions. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CsvValue } from '../../infra/clickhouse/csv.ts';
import type { Stores } from '../../infra/stores.ts';
import { createTestStores } from '../../test/support/infra/test-stores.ts';
import { compareGenerations, type GenerationComparison } from './compare-generations.ts';

let stores: Stores;
let comparison: GenerationComparison;

/** Values before and after, in USD. */
const PAIRS: readonly (readonly [string | null, string | null])[] = [
  ['1', '1'],
  ['10', '10.05'],
  ['10', '9.95'],
  ['100', '95'],
  ['100', '70'],
  ['100', '20'],
  ['1000', '1'],
  ['3', '3.2'],
  ['3', '5'],
  ['3', '9'],
  ['3', '300.123456789'],
  [null, '7'],
  ['8', null],
  [null, null],
  ['0', '2'],
  ...Array.from({ length: 25 }, (_, index): [string, string] => ['0.5', String(0.5 + (index + 1) / 1000)]),
];
const txid = (index: number) => index.toString(16).padStart(64, '0');

beforeAll(async () => {
  stores = await createTestStores();
  const columns = ['generation', 'chain', 'txid', 'vout', 'tick', 'import_height', 'usd_value', 'rule', 'reason'];
  const rows = PAIRS.flatMap(([before, after], index): CsvValue[][] =>
    [before, after].map((value, side) => {
      const rule = value === null ? ['unpriced', 'no_price'] : ['to_side', ''];
      return [side + 1, 'vrsc', txid(index), 0, index, 100 + index, value, ...rule];
    }),
  );
  // Not in both generations yet: the fold is ahead of the other one.
  rows.push([1, 'vrsc', txid(999), 0, PAIRS.length, 999, '1000000', 'to_side', '']);
  await stores.clickhouse.insert('conversions', columns, rows);
  comparison = await compareGenerations(stores.clickhouse, { before: 1, after: 2, tick: PAIRS.length - 1 });
});
afterAll(() => stores.close());

it('counts and sums by rule and reason', () => {
  const sum = (side: 0 | 1) => PAIRS.reduce((total, pair) => total + Number(pair[side] ?? 0), 0);
  const none = (side: 0 | 1) => PAIRS.filter((pair) => pair[side] === null).length;
  expect(comparison.rules).toEqual([
    {
      rule: 'to_side',
      reason: '',
      before: PAIRS.length - none(0),
      after: PAIRS.length - none(1),
      usdBefore: String(Math.round(sum(0) * 100) / 100),
      usdAfter: String(Math.round(sum(1) * 100) / 100),
    },
    { rule: 'unpriced', reason: 'no_price', before: none(0), after: none(1), usdBefore: '0', usdAfter: '0' },
  ]);
});

it('names the twenty largest differences, largest first', () => {
  const apart = PAIRS.map(([before, after], index) => ({
    index,
    by: Math.abs(Number(before ?? 0) - Number(after ?? 0)),
  }));
  const expected = apart.sort((a, b) => b.by - a.by).slice(0, 20);
  expect(comparison.differences.map((difference) => difference.txid)).toEqual(expected.map(({ index }) => txid(index)));
  expect(comparison.differences[0]).toEqual({
    chain: 'vrsc',
    txid: txid(6),
    vout: 0,
    height: 106,
    before: '1000',
    after: '1',
  });
  expect(comparison.differences.find((difference) => difference.txid === txid(11))?.before).toBeNull();
});

it('puts every conversion into one ratio', () => {
  const ratios = Object.fromEntries(comparison.ratios.map(({ ratio, conversions }) => [ratio, conversions]));
  expect(ratios).toEqual({
    'below 0.1': 1,
    '0.1 to 0.5': 1,
    '0.5 to 0.9': 1,
    '0.9 to 0.99': 1,
    '0.99 to 1': 1,
    equal: 1,
    '1 to 1.01': 5,
    '1.01 to 1.1': 22,
    '1.1 to 2': 1,
    '2 to 10': 1,
    '10 and more': 1,
    'a value only after': 1,
    'a value only before': 1,
    'no value in either': 1,
    'zero before': 1,
  });
});
