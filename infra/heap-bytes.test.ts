import { getHeapStatistics } from 'node:v8';
import { expect, it } from 'vitest';
import { collectGarbage } from '../test/support/collect-garbage.ts';
import { heapBytes } from './heap-bytes.ts';

function heapUsed(): number {
  collectGarbage();
  return getHeapStatistics().used_heap_size;
}

const COUNT = 20_000;
/** Returns distinct texts, so that the heap shares nothing, in the representation that a decoder creates. */
const text = (prefix: string, n: number, length: number) =>
  Buffer.from(`${prefix}${n}`.padEnd(length, 'x')).toString('utf8');
const keyed = (n: number, keys: number) =>
  Object.fromEntries(Array.from({ length: keys }, (_, key) => [text(`i${n}-`, key, 34), BigInt(key)]));

it.each<readonly [what: string, make: (n: number) => unknown]>([
  [
    'a record of short and long texts',
    (n) => ({ txid: text('t', n, 64), name: text('n', n, 5), changes: text('c', n, 500) }),
  ],
  ['text beyond Latin letters', (n) => ({ name: text('名', n, 40) })],
  ['numbers of all sorts', (n) => ({ height: n, time: n * 2 ** 33, share: n / 7, amount: BigInt(n) ** 3n })],
  ['many nearly empty values', (n) => ({ facts: [{}, { a: null }, [], [n]] })],
  ['a table of one address', (n) => ({ currencies: keyed(n, 1) })],
  ['a table of a hundred addresses', (n) => (n % 100 === 0 ? { currencies: keyed(n, 100) } : {})],
])('the heap grows by at most the estimate, and not much less: %s', (_, make) => {
  const estimate = Array.from({ length: COUNT }, (_, n) => heapBytes(make(n))).reduce((sum, bytes) => sum + bytes, 0);
  const held: unknown[] = new Array(COUNT);
  const before = heapUsed();
  for (let n = 0; n < COUNT; n++) held[n] = make(n);
  const taken = heapUsed() - before;
  expect(held).toHaveLength(COUNT);
  expect(taken).toBeLessThan(estimate);
  expect(taken).toBeGreaterThan(estimate / 4);
});
