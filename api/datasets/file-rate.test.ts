import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { limitRate } from './file-rate.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const CHUNK = 2 ** 17;
const RATE = CHUNK * 10;

it('lets all readers together have the rate, first come first served', async () => {
  const fileRate = limitRate(RATE, () => performance.now());
  const left: string[] = [];
  const reader = async (name: string) => {
    for (let chunk = 0; chunk < 10; chunk++) {
      await fileRate(CHUNK);
      left.push(name);
    }
  };
  void Promise.all([reader('a'), reader('b')]);
  await vi.advanceTimersByTimeAsync(1_050);
  expect(left.length).toBe(11);
  expect(left.slice(0, 6)).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(left.length).toBe(20);
});

it('saves nothing up for later, and no part is free', async () => {
  const fileRate = limitRate(RATE, () => performance.now());
  await vi.advanceTimersByTimeAsync(60_000);
  let left = 0;
  void (async () => {
    for (;;) {
      await fileRate(1);
      left++;
    }
  })();
  await vi.advanceTimersByTimeAsync(1_000);
  // A part counts as a chunk at least.
  expect(left).toBeGreaterThan(8);
  expect(left).toBeLessThanOrEqual(11);
});
