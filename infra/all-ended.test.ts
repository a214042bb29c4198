import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { allEnded } from './all-ended.ts';

it('returns the results in order', async () => {
  const [first, second] = await allEnded([sleep(10, 'late'), sleep(0, 2)]);
  expect([first.length, second + 1]).toEqual([4, 3]);
});

it('rejects with the first failure in order once all have ended', async () => {
  let isEnded = false;
  const fail = async (ms: number, reason: string): Promise<never> => {
    await sleep(ms);
    throw new Error(reason);
  };
  const slow = sleep(30).then(() => {
    isEnded = true;
  });
  await expect(allEnded([slow, fail(20, 'first'), fail(0, 'second')])).rejects.toThrow('first');
  expect(isEnded).toBe(true);
});
