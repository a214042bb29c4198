import { expect, it } from 'vitest';
import { QueueFull } from '../access/priority-lanes.ts';
import { createMemo } from './memo.ts';

function failing(error: Error) {
  const { promise, reject } = Promise.withResolvers<string>();
  return { work: () => promise, fail: () => reject(error) };
}

it('whoever shares work that found no place for its owner does it itself; other failures are of all', async () => {
  const memo = createMemo(10);
  for (const [error, expected] of [
    [new QueueFull(), 'own'],
    [new Error('no'), 'no'],
  ] as const) {
    const { work, fail } = failing(error);
    const first = memo.get('key', 'tag', work);
    const joined = memo.get('key', 'tag', async () => 'own');
    fail();
    await expect(first).rejects.toBe(error);
    expect(await joined.catch(({ message }: Error) => message)).toBe(expected);
  }
  expect(await memo.get('key', 'tag', async () => 'again')).toBe('again');
});
