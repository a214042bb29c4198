import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { limitRate } from './file-rate.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const CHUNK = 2 ** 17;
const RATE = CHUNK * 10;

it('all readers share the rate, in turns', async () => {
  const fileRate = limitRate(RATE, () => performance.now());
  const left: string[] = [];
  const reader = async (name: string) => {
    for (let chunk = 0; chunk < 10; chunk++) {
      await fileRate(name, CHUNK);
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

it('unused rate is not saved up, and no part is free', async () => {
  const fileRate = limitRate(RATE, () => performance.now());
  await vi.advanceTimersByTimeAsync(60_000);
  let left = 0;
  void (async () => {
    for (;;) {
      await fileRate('a', 1);
      left++;
    }
  })();
  await vi.advanceTimersByTimeAsync(1_000);
  // A part counts as at least a chunk.
  expect(left).toBeGreaterThan(8);
  expect(left).toBeLessThanOrEqual(11);
});

it('each network gets the same share of the rate, however many parts of any size it requests', async () => {
  const greedy = fc.record({
    networks: fc.integer({ min: 1, max: 8 }),
    readers: fc.integer({ min: 1, max: 64 }),
    bytes: fc.constantFrom(1, 1_000, CHUNK, 4 * CHUNK, 20 * CHUNK),
  });
  await fc.assert(
    fc.asyncProperty(greedy, async ({ networks, readers, bytes }) => {
      const fileRate = limitRate(RATE, () => performance.now());
      const left = new Map<string, number>();
      let isOver = false;
      const reader = async (network: string, size: number) => {
        while (!isOver) {
          await fileRate(network, size);
          left.set(network, (left.get(network) ?? 0) + Math.ceil(size / CHUNK));
        }
      };
      for (let n = 0; n < networks; n++) {
        for (let each = 0; each < readers; each++) void reader(`greedy ${n}`, bytes);
      }
      await vi.advanceTimersByTimeAsync(1_000);
      void reader('honest', CHUNK);
      left.clear();
      await vi.advanceTimersByTimeAsync(10_000);
      const sum = [...left.values()].reduce((total, parts) => total + parts, 0);
      // The whole rate is used, in equal shares; a request of several parts may be in progress at the end.
      if (bytes <= CHUNK) expect(Math.abs(sum - 100)).toBeLessThanOrEqual(1);
      expect(left.get('honest')).toBeGreaterThanOrEqual(Math.floor(100 / (networks + 1)) - 1);
      isOver = true;
      await vi.advanceTimersByTimeAsync(100_000);
    }),
    { numRuns: 30 },
  );
});
