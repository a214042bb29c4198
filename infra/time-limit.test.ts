import { expect, it, vi } from 'vitest';
import { withTimeLimit } from './time-limit.ts';

const LIMIT_MS = 20;

/** The process does nothing else meanwhile. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

it('work that has ended in time, or while the process stood still, counts, and nothing is said to be late', async () => {
  const late = vi.fn(() => new Error('late'));
  expect(await withTimeLimit(Promise.resolve(1), LIMIT_MS, late)).toBe(1);
  const { promise, resolve } = Promise.withResolvers<number>();
  const limited = withTimeLimit(promise, LIMIT_MS, late);
  setTimeout(() => resolve(2), LIMIT_MS + 1); // both are due in the same turn, the limit first
  standStill(3 * LIMIT_MS);
  expect(await limited).toBe(2);
  await new Promise((done) => setTimeout(done, 2 * LIMIT_MS));
  expect(late).not.toHaveBeenCalled();
});

it('work that does not end is late', async () => {
  await expect(withTimeLimit(new Promise(() => undefined), LIMIT_MS, () => new Error('late'))).rejects.toThrow('late');
});
