import { expect, it } from 'vitest';
import { turnsDuring } from '../../test/support/infra/loop-turns.ts';
import { inTurns } from './in-turns.ts';

function busy(ms: number): void {
  for (const began = performance.now(); performance.now() - began < ms; );
}

const rows = (count: number) => Array.from({ length: count }, (_, at) => at);
const twice = (row: number) => row * 2;

it('long work lets other work run in between, and has the same result', async () => {
  const long = (row: number) => {
    busy(1);
    return twice(row);
  };
  const made = Promise.all([inTurns(rows(100), long), inTurns(rows(100), long)]);
  expect(await turnsDuring(made)).toBeGreaterThan(10);
  expect(await made).toEqual([rows(100).map(twice), rows(100).map(twice)]);
});

it('several workers on tiny rows do not rest at each row', async () => {
  const workers = Array.from({ length: 4 }, () => inTurns(rows(20_000), twice));
  expect(await turnsDuring(Promise.all(workers), () => busy(0.5))).toBeLessThan(2_000);
});

it('small work does not wait behind large work', async () => {
  const slow = (row: number) => {
    busy(0.1);
    return twice(row);
  };
  const large = Promise.all([inTurns(rows(1_000), slow), inTurns(rows(1_000), slow)]);
  await new Promise(setImmediate); // both have rested
  const small = Array.from({ length: 50 }, () => inTurns(rows(1), twice));
  expect(await turnsDuring(Promise.all(small))).toBeLessThan(3);
  await large;
});
