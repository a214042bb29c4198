import { expect, it } from 'vitest';
import { createFlights, shared } from './shared.ts';

/** Work that ends when the test resolves it. */
function steps() {
  const ends: ((value: number) => void)[] = [];
  return { ends, work: () => new Promise<number>((resolve) => ends.push(resolve)) };
}

it('a call during a run shares the next run', async () => {
  const { ends, work } = steps();
  const ask = shared(work);
  const first = ask();
  await expect.poll(() => ends.length).toBe(1);
  const later = [ask(), ask()];
  ends[0]?.(1);
  expect(await first).toBe(1);
  await expect.poll(() => ends.length).toBe(2);
  ends[1]?.(2);
  expect(await Promise.all(later)).toEqual([2, 2]);
  expect(ends).toHaveLength(2);
});

it('a call during a run of the same key shares that run; other keys and later calls do not', async () => {
  const { ends, work } = steps();
  const fly = createFlights<string, number>();
  const all = [fly('a', work), fly('a', work), fly('b', work)];
  expect(ends).toHaveLength(2);
  for (const [index, end] of ends.entries()) end(index);
  expect(await Promise.all(all)).toEqual([0, 0, 1]);
  const again = fly('a', work);
  ends[2]?.(2);
  expect(await again).toBe(2);
});

it('a failed run is not shared with a later call', async () => {
  const fly = createFlights<string, number>();
  await expect(fly('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await fly('a', async () => 1)).toBe(1);
});
