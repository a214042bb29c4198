/** Ticks of any size have short labels that differ. */
import { expect, it } from 'vitest';
import { axisLabels } from './axis-labels.ts';

const ticks = (from: number, step: number) => Array.from({ length: 5 }, (_, index) => from + index * step);

it.each<[string, readonly number[], readonly string[]]>([
  ['ordinary values', ticks(0, 2.5), ['0', '2.5', '5', '7.5', '10']],
  ['thousands', ticks(10_000, 20_000), ['10,000', '30,000', '50,000', '70,000', '90,000']],
  ['halves of steps', ticks(1.2425e-9, 2.5e-12), ['1.2425E-9', '1.245E-9', '1.2475E-9', '1.25E-9', '1.2525E-9']],
  ['millions', ticks(1_000_000, 500_000), ['1M', '1.5M', '2M', '2.5M', '3M']],
])('%s', (_, values, labels) => {
  expect(axisLabels(values)).toEqual(labels);
});

it.each<[string, readonly number[]]>([
  ['a price that hardly moves', ticks(1.000_000_1, 1e-7)],
  ['a large amount that hardly moves', ticks(12_345_678, 3)],
  ['a tiny price', ticks(1.234_5e-9, 1e-13)],
  ['nothing but zero and satoshis', ticks(0, 1e-8)],
  ['a supply beyond all names of numbers', ticks(4e21, 1e20)],
  ['a loss', ticks(-3e-7, 1e-7)],
])('%s has labels that differ and fit', (_, values) => {
  const labels = axisLabels(values);
  expect(new Set(labels).size).toBe(values.length);
  for (const label of labels) expect(label.length, label).toBeLessThanOrEqual(14);
});

it('no tick has no label', () => expect(axisLabels([])).toEqual([]));
