import { expect, it } from 'vitest';
import { collectGarbage } from '../../test/support/collect-garbage.ts';
import { memoize } from './memoize.ts';

it('computes recent results once, and older ones again', () => {
  const asked: string[] = [];
  const length = memoize((text) => {
    asked.push(text);
    return text.length;
  }, 2);
  for (const text of ['a', 'bb', 'a', 'bb', 'ccc', 'a']) expect(length(text)).toBe(text.length);
  expect(asked).toEqual(['a', 'bb', 'ccc']);
  for (const text of ['dddd', 'eeeee', 'f', 'gg', 'bb']) expect(length(text)).toBe(text.length);
  expect(asked).toEqual(['a', 'bb', 'ccc', 'dddd', 'eeeee', 'f', 'gg', 'bb']);
});

it('does not keep long texts', () => {
  let count = 0;
  const answer = memoize(() => ++count, 10);
  const long = 'x'.repeat(300);
  expect([answer(long), answer(long)]).toEqual([1, 2]);
});

it('does not keep the body that a text was cut from', () => {
  const answer = memoize((text) => text.slice(1), 100);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < 30; count++) {
    answer(Buffer.alloc(4_000_000, `${count} of many `).toString('utf8').slice(100, 200));
  }
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000);
});
