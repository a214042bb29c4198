import { expect, it, vi } from 'vitest';
import { withTimeLimit } from './time-limit.ts';

const LIMIT_MS = 20;

/** Blocks the process. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

it('accepts work that ended in time or while the process was stalled, and does not call late', async () => {
  const late = vi.fn(() => new Error('late'));
  expect(await withTimeLimit(Promise.resolve(1), LIMIT_MS, late)).toBe(1);
  const { promise, resolve } = Promise.withResolvers<number>();
  const limited = withTimeLimit(promise, LIMIT_MS, late);
  setTimeout(() => resolve(2), LIMIT_MS + 1); // both timers fire in the same turn, the limit first
  standStill(3 * LIMIT_MS);
  expect(await limited).toBe(2);
  await new Promise((done) => setTimeout(done, 2 * LIMIT_MS));
  expect(late).not.toHaveBeenCalled();
});

it('rejects if the work does not end', async () => {
  await expect(withTimeLimit(new Promise(() => undefined), LIMIT_MS, () => new Error('late'))).rejects.toThrow('late');
});
